import { expect, test } from 'vitest'
import { permissionChoices, questionChoices } from '../web/requests/choices.js'

const OPTIONS = [
  { optionId: 'yes', name: 'Sure', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
] as const
const request = (options: readonly (typeof OPTIONS)[number][] = OPTIONS) =>
  ({ kind: 'permission', toolCall: { type: 'tool-call', toolCallId: '1' }, options }) as const
const facts = {
  commands: ['npm test'],
  folders: [],
  paths: [],
  urls: [],
  unclear: false,
  allowRule: { call: 'digest' },
  denyRule: { toolKind: 'execute', command: 'npm test' },
} as const
const context = { facts, workspace: 'shop', mayRuleWorkspace: true }

test('15.2 every option of the agent is a choice, and a rule of the gateway beside them', () => {
  const choices = permissionChoices(request(), context)
  expect(choices.map(({ key, text, isPositive }) => [key, text, isPositive])).toEqual([
    ['y', 'Allow once', true],
    ['n', 'Deny once', false],
    ['a', 'Allow always', true],
    ['N', 'Deny always', false],
  ])
  expect(choices[0]).toMatchObject({ name: 'Sure', leads: { optionId: 'yes' } })
})

test('15.2 always leads to a second choice with the rule and its reach', () => {
  const always = permissionChoices(request(), context)[3]
  expect(always?.leads).toEqual([
    {
      key: 's',
      isPositive: false,
      text: 'Deny every call that runs commands a part of which is the command npm test: in this session, also when it is resumed. A rule of agentproto.',
      leads: { optionId: 'no', remember: 'session' },
    },
    {
      key: 'w',
      isPositive: false,
      text: 'Deny every call that runs commands a part of which is the command npm test: in every session of the workspace shop, until you remove the rule.',
      leads: { optionId: 'no', remember: 'workspace' },
    },
  ])
})

test('15.2 a login that may not make rules of a workspace is offered none', () => {
  const choices = permissionChoices(request(), { ...context, mayRuleWorkspace: false })
  expect(JSON.stringify(choices)).not.toContain('workspace')
})

test('15.2 what the agent offers no denial for can be denied', () => {
  const choices = permissionChoices(request([OPTIONS[0]]), { ...context, facts: undefined })
  expect(choices.map(({ leads }) => leads)).toEqual([{ optionId: 'yes' }, { action: 'cancel' }])
})

test('15.2 a question without a form is accepted or declined', () => {
  expect(questionChoices('url').map(({ text }) => text)).toEqual(['I have done it', 'Decline'])
})

import { expect, test } from 'vitest'
import { hasSecondStep, type PermissionOption, permissionChoices, questionChoices } from '../../src/index.js'

const OPTIONS = [
  { optionId: 'yes', name: 'Sure', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
] as const
const request = (options: readonly PermissionOption[] = OPTIONS) =>
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
const context = { facts, workspace: 'shop', mayRuleWorkspace: true, quote: (text: string): string => text }

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

test("15.2 the agent's own always is the last choice of the second step, and says that its reach is unknown", () => {
  const always = permissionChoices(
    request([{ optionId: 'ever', name: 'Always', kind: 'allow_always' }, ...OPTIONS]),
    context,
  )[0]
  const second = always !== undefined && hasSecondStep(always.leads) ? always.leads : []
  expect(second.map(({ key, name, leads }) => [key, name, leads])).toEqual([
    ['s', undefined, { optionId: 'yes', remember: 'session' }],
    ['w', undefined, { optionId: 'yes', remember: 'workspace' }],
    ['g', 'Always', { optionId: 'ever' }],
  ])
  expect(second[2]?.text).toContain("agentproto doesn't see it")
})

test('15.2 a letter leads to the first option of its kind only', () => {
  const choices = permissionChoices(request([OPTIONS[0], { ...OPTIONS[0], optionId: 'other' }]), context)
  expect(choices.map(({ key }) => key)).toEqual(['y', '', 'a', 'n'])
})

test('15.2 the command of a rule is quoted for the place where it is shown', () => {
  const choices = permissionChoices(request(), { ...context, quote: (text) => `<${text}>` })
  expect(JSON.stringify(choices)).toContain('the command <npm test>:')
})

import type { AgentPlan } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { planLines } from '../src/render/agent-plan.js'
import { createPaint } from '../src/render/paint.js'

const PLAN: AgentPlan = {
  registryId: 'sample',
  slug: 'sample',
  name: 'Sample',
  description: 'A sample.',
  version: '1.2.3',
  authors: [],
  way: 'npx',
  package: 'sample-agent@1.2.3',
}
const linesOf = (plan: Partial<AgentPlan>): readonly string[] => planLines({ ...PLAN, ...plan }, createPaint(false))

test('18.2 a plan shows with which arguments and variables an agent is started, and which of the user it gets', () => {
  const lines = linesOf({
    args: ['--acp', '--yolo\u001b[2J'],
    variables: { passed: ['CLOUD_TOKEN', 'SSH_AUTH_SOCK'], set: { MODE: 'fast' } },
  })
  expect(lines).toContain('  with the variables: MODE=fast')
  expect(lines).toContain('! Its sessions get these variables of yours: CLOUD_TOKEN, SSH_AUTH_SOCK.')
  expect(lines.find((line) => line.includes('--yolo'))).toMatch(/^ {2}started with: --acp --yolo/)
  expect(lines.join('')).not.toContain('\u001b')
})

test('18.2 a plan names the version that it replaces, if it is another one', () => {
  const replaces = { version: '1.2.2', edited: false }
  expect(linesOf({ replaces })).toContain('! It replaces 1.2.2.')
  const same = linesOf({ replaces: { ...replaces, version: '1.2.3' } }).join('')
  expect(same).toContain('! 1.2.3 is there already.')
  expect(same).not.toContain('replaces')
})

test('18.2 a plan has no line for what an entry does not say', () => {
  expect(linesOf({ args: [], variables: { passed: [], set: {} } })).toEqual(linesOf({}))
})

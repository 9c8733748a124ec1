import type { AgentConfig, PermissionMode } from '@agentproto/contracts'
import type { ConfigChange } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { chooseMode, type ModeChoice } from '../src/permissions/agent-mode.js'
import { echo, scripted, type ScriptedAgent } from './fixtures/scripted-agent.js'
import { adapters, memoryRegistry, owner } from './fixtures/test-registry.js'

const offering = (modeId: string, ...ids: readonly string[]): AgentConfig => ({
  modeId,
  modes: [modeId, ...ids].map((id) => ({ id, name: id })),
})
const choose = (config: AgentConfig, permissionMode: PermissionMode, more: object = {}): ModeChoice =>
  chooseMode(config, { permissionMode, chosen: false, ...more })
const warning = expect.stringContaining('without asking') as string

test.each<[PermissionMode, AgentConfig, ModeChoice]>([
  // It asks already, or does nothing.
  ['ask', offering('default', 'plan', 'auto'), { fits: true }],
  ['ask', offering('plan', 'default'), { fits: true }],
  ['approve-reads', offering('ask', 'code'), { fits: true }],
  ['deny-all', offering('read-only', 'auto'), { fits: true }],
  // It does not: it is brought to one in which it asks, else to one in which it only reads.
  ['ask', offering('auto', 'plan', 'default'), { set: 'default' }],
  ['ask', offering('agent', 'read-only', 'agent-full-access'), { set: 'read-only' }],
  ['approve-reads', offering('acceptEdits', 'plan'), { set: 'plan' }],
  // Whoever wants to be asked wants it to act: OpenCode is not put into its plan mode.
  ['ask', offering('build', 'plan'), { warning }],
  ['deny-all', offering('bypassPermissions', 'plan', 'default'), { set: 'default' }],
  ['deny-all', offering('yolo', 'readOnly'), { set: 'readOnly' }],
  // What is allowed anyway need not be asked, but the agent has to act.
  ['approve-all', offering('auto', 'default'), { fits: true }],
  ['approve-all', offering('plan', 'default', 'bypassPermissions'), { set: 'default' }],
  ['approve-all', offering('read-only', 'full-access'), { set: 'full-access' }],
  ['approve-all', offering('plan', 'other'), { fits: true }],
  // Nobody knows.
  ['ask', offering('build', 'plan-ish'), { warning }],
  ['deny-all', offering('off', 'high'), { warning }],
  ['ask', {}, { fits: true }],
])('for %s, an agent with the modes %j: %j', (permissionMode, config, expected) => {
  expect(choose(config, permissionMode)).toEqual(expected)
})

test('a manifest says which modes of its agent fit, and a mode that a caller chose stays', () => {
  const permissionModes = { ask: ['careful', 'build'], 'approve-all': ['wild'] }
  expect(choose(offering('wild', 'build', 'careful'), 'ask', { permissionModes })).toEqual({ set: 'careful' })
  expect(choose(offering('build', 'careful'), 'ask', { permissionModes })).toEqual({ fits: true })
  expect(choose(offering('build', 'wild'), 'approve-all', { permissionModes })).toEqual({ set: 'wild' })
  expect(choose(offering('auto', 'default'), 'ask', { chosen: true })).toEqual({ warning })
  expect(choose(offering('auto', 'default'), 'approve-all', { chosen: true })).toEqual({ fits: true })
  expect(choose(offering('build', 'default'), 'ask', { chosen: true })).toEqual({ fits: true })
})

/** An agent that offers modes, and takes a change of them or not. */
function moded(config: AgentConfig, refuse = false) {
  const changes: ConfigChange[] = []
  const agents = scripted(echo)
  const startAgent: typeof agents.startAgent = async (options, sink) => {
    await sink.emit([{ type: 'config', config }])
    const agent = (await agents.startAgent(options, sink)) as ScriptedAgent
    agent.configure = async (change: ConfigChange): Promise<void> => {
      changes.push(change)
      if (refuse) throw new Error('not for you')
      if ('mode' in change) await sink.emit([{ type: 'config', config: { modeId: change.mode } }])
    }
    return agent
  }
  return { options: { startAgent }, changes }
}

test('the agent is brought to the mode at its start and when the permission mode changes', async () => {
  const { options, changes } = moded(offering('auto', 'default', 'bypassPermissions', 'plan'))
  const summary = { ...(await adapters.get('fake')) }
  const session = { ...summary.session, permissionModes: { 'approve-all': ['bypassPermissions'] } }
  const { registry } = await memoryRegistry({
    ...options,
    adapters: { list: async () => [summary], get: async () => ({ ...summary, session }) },
  })
  const started = await registry.spawn({ adapter: 'fake' }, owner)
  expect(started).toMatchObject({ config: { modeId: 'default' }, warnings: [] })
  await registry.configure(started.id, { permissionMode: 'approve-all' }, owner)
  await registry.configure(started.id, { permissionMode: 'deny-all' }, owner)
  expect(changes).toEqual([{ mode: 'default' }, { mode: 'bypassPermissions' }, { mode: 'default' }])
  // From here on somebody chose it.
  await registry.configure(started.id, { mode: 'auto' }, owner)
  expect(await registry.configure(started.id, { permissionMode: 'ask' }, owner)).toMatchObject({
    config: { modeId: 'auto' },
    warnings: [expect.stringContaining('In its mode auto') as string],
  })
})

test('a session warns when its agent cannot be set to a mode', async () => {
  const { registry } = await memoryRegistry(moded(offering('auto', 'default'), true).options)
  const { warnings } = await registry.spawn({ adapter: 'fake' }, owner)
  expect(warnings).toEqual([expect.stringMatching(/its mode default, .*: not for you/) as string])
})

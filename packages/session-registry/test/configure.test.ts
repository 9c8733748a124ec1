import { AgentprotoError } from '@agentproto/contracts'
import type { ConfigChange, StartAgent } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { echo, scripted } from './fixtures/scripted-agent.js'
import { memoryRegistry, owner, resumableAdapters } from './fixtures/test-registry.js'

/** Agents that take the modes `plan` and `code` and any model and option, and remember in which order. */
function configurable(): { startAgent: StartAgent; set: ConfigChange[][] } {
  const set: ConfigChange[][] = []
  const { startAgent } = scripted(echo, { resume: true, load: true })
  return {
    set,
    startAgent: async (options, sink) => {
      const agent = await startAgent(options, sink)
      const mine: ConfigChange[] = []
      set.push(mine)
      return Object.assign(agent, {
        configure: async (change: ConfigChange) => {
          if ('mode' in change && change.mode === 'gone')
            throw new AgentprotoError('mode_unknown', 'The agent has no such mode')
          mine.push(change)
          if ('mode' in change) await sink.emit([{ type: 'config', config: { modeId: change.mode } }])
        },
      })
    },
  }
}

test('a configuration is applied in order, and the session shows it', async () => {
  const { startAgent, set } = configurable()
  const { registry } = await memoryRegistry({ startAgent })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const request = { options: { effort: 'high', web: true }, model: 'm2', mode: 'plan' }
  expect(await registry.configure(id, request, owner)).toMatchObject({ config: { modeId: 'plan' } })
  expect(set).toEqual([
    [{ mode: 'plan' }, { model: 'm2' }, { optionId: 'effort', value: 'high' }, { optionId: 'web', value: true }],
  ])
})

test('what was set is set again when the session is resumed; what is refused then is a warning', async () => {
  const { startAgent, set } = configurable()
  const { registry } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await registry.configure(id, { mode: 'plan', model: 'm1' }, owner)
  await registry.configure(id, { model: 'm2' }, owner)
  await registry.kill(id, owner)
  await registry.resume(id, {}, owner)
  expect(set[1]).toEqual([{ mode: 'plan' }, { model: 'm2' }])
})

test('a refused change leaves what was set before it, and is not tried again at a resume', async () => {
  const { startAgent, set } = configurable()
  const { registry } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  await expect(registry.configure(id, { mode: 'gone', model: 'm' }, owner)).rejects.toMatchObject({
    code: 'mode_unknown',
  })
  await registry.kill(id, owner)
  await expect(registry.configure(id, { model: 'm' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
  await registry.resume(id, {}, owner)
  expect(set).toEqual([[], []])
})

test('MCP servers reach the agent at the start and at a resume, and no caller sees them', async () => {
  const { startAgent, agents } = scripted(echo, { resume: true, load: true })
  const { registry } = await memoryRegistry({ startAgent, adapters: resumableAdapters })
  const env = [{ name: 'KEY', value: 'v4lue-of-a-server' }]
  const mcpServers = [{ name: 'files', command: '/bin/files', args: [], env }]
  const session = await registry.spawn({ adapter: 'fake', mcpServers }, owner)
  await registry.kill(session.id, owner)
  await registry.resume(session.id, {}, owner)
  expect(agents.map(({ options }) => options.mcpServers)).toEqual([mcpServers, mcpServers])
  expect(JSON.stringify([session, await registry.list()])).not.toContain('v4lue')
})

import { MemoryEventStore, MemorySessionStore, openSessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { scripted } from './fixtures/scripted-agent.js'
import { adapters, constantFolder, owner } from './fixtures/test-registry.js'

test('the example of the README', async () => {
  const { startAgent } = scripted()
  const workspaces = constantFolder('/')
  const stores = { store: new MemorySessionStore(), logs: new MemoryEventStore() }
  const registry = await openSessionRegistry({ ...stores, startAgent, adapters, workspaces, hostId: 'laptop' })
  const { id } = await registry.spawn({ adapter: 'fake' }, owner)
  const { turn } = await registry.prompt(id, { prompt: 'hello' }, owner)
  const { text } = await registry.waitTurn(id, turn)
  await registry.close()
  expect(text).toBe('echo: hello')
})

import type { Principal } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { scripted } from '../../session-registry/test/fixtures/scripted-agent.ts'
import { memoryRegistry } from '../../session-registry/test/fixtures/test-registry.ts'
import { servicesOf, twoHosts } from './support/two-hosts.ts'

const OWNER: Principal = { type: 'owner', name: 'owner' }

test('17.2 a host starts, prompts and reads a session of another host', needs('nats-server'), async () => {
  const { registry } = await memoryRegistry(scripted())
  const { b } = await twoHosts(servicesOf(registry))
  const session = await b.caller.value('a', 'sessions.spawn', [{ adapter: 'fake' }], { by: OWNER })
  const { id } = session
  const { turn } = await b.caller.value('a', 'sessions.prompt', [id, { prompt: 'hello' }], { by: OWNER })
  const result = await b.caller.value('a', 'sessions.waitTurn', [id, turn])
  expect(result).toEqual(await registry.waitTurn(id, turn))
  expect(result.text).toBe('echo: hello')
})

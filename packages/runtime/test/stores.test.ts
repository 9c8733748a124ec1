import { readdir } from 'node:fs/promises'
import type { Principal } from '@agentproto/contracts'
import { createGateway } from '@agentproto/runtime'
import { MemoryEventStore, MemorySessionStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

test('stores of the embedder’s own keep the sessions, and the home keeps the rest and its lock', async () => {
  const home = await temporaryHome()
  const store = { sessions: new MemorySessionStore(), logs: new MemoryEventStore() }
  const first = await testGateway({ home, store })
  const { id } = await first.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hello' }, owner)
  const { text } = await first.sessions.waitTurn(id, 1)
  await expect(createGateway({ home, store })).rejects.toMatchObject({ code: 'daemon_running' })
  await first.close()
  // The demo agent has a folder of sessions there, too.
  const kept = await readdir(home, { recursive: true })
  expect(kept).toContain('token')
  expect(kept.filter((path) => /meta\.json|events\.jsonl|sessions\.json|daemon\.lock/.test(path))).toEqual([])

  const next = await testGateway({ home, store })
  expect(next.token).toBe(first.token)
  expect(await next.sessions.waitTurn(id, 1)).toMatchObject({ text, reason: 'end_turn' })
  expect(await next.sessions.get(id)).toMatchObject({ turnCount: 1, connection: 'disconnected' })
})

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { createGateway } from '@agentproto/runtime'
import { MemoryEventStore, MemorySessionStore } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

/** It says when it was closed, and can be one that cannot be read. */
class WatchedStore extends MemorySessionStore {
  closed = 0
  readonly #isBroken: boolean

  constructor({ isBroken = false } = {}) {
    super()
    this.#isBroken = isBroken
  }

  override load(): ReturnType<MemorySessionStore['load']> {
    return this.#isBroken ? Promise.reject(new Error('no such table')) : super.load()
  }

  override close(): Promise<void> {
    this.closed += 1
    return super.close()
  }
}

test('12 a gateway that cannot be assembled closes what it has opened, and its home is free', async () => {
  const home = await temporaryHome()
  const broken = new WatchedStore({ isBroken: true })
  const logs = new MemoryEventStore()
  await expect(createGateway({ home, store: { sessions: broken, logs } })).rejects.toThrow('no such table')
  const whole = new WatchedStore()
  // The surfaces come last: the sessions are open when they fail.
  const allowedHosts = [undefined as never]
  await expect(createGateway({ home, store: { sessions: whole, logs }, allowedHosts })).rejects.toThrow('toLowerCase')
  expect([broken.closed, whole.closed]).toEqual([1, 1])
  const lines = (await readFile(join(home, 'logs', 'gateway.jsonl'), 'utf8')).trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { readonly msg: string }).msg)).toEqual(['closed', 'closed'])
  await testGateway({ home })
})

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

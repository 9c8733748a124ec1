import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// The tree of docs/embedding.md, §The end.

const owner: Principal = { type: 'owner', name: 'owner' }

test('a close goes in the documented order: no new session, sessions, streams, sockets, records, lock', async () => {
  const home = await temporaryHome()
  const seen: object[] = []
  const there = (): object => ({
    record: existsSync(join(home, 'daemon.json')),
    lock: existsSync(join(home, 'daemon.lock')),
  })
  const answers = (url: string): Promise<number> => fetch(`${url}/health`).then(({ status }) => status)
  const spawns = (gateway: Gateway): Promise<string> =>
    gateway.sessions.spawn({ adapter: 'demo', cwd: home }, owner).then(
      () => 'a session',
      (refused: { code: string }) => refused.code,
    )
  const gateway: Gateway = await testGateway({
    home,
    hooks: {
      timeoutMs: 60_000,
      async onEvent({ type }) {
        if (type !== 'session-stopped') return
        // The session has ended. The socket answers still, and nothing of the home is given up.
        seen.push({ ...there(), health: await answers(url), spawn: await spawns(gateway) })
      },
    },
  })
  const { url, token } = await gateway.listen({ port: 0 })
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hang' }, owner)
  const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
  const stream = (await fetch(`${url}/sessions/${id}/events`, { headers })).text()
  const closing = gateway.close()
  expect(await spawns(gateway)).toBe('shutting_down')
  await closing
  expect(seen).toEqual([{ record: true, lock: true, health: 200, spawn: 'shutting_down' }])
  expect(await stream).toContain('event: session-stopped')
  await expect(answers(url)).rejects.toThrow()
  expect(there()).toEqual({ record: false, lock: false })
})

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient, type Fetch } from '@agentproto/client'
import { expect, test } from 'vitest'
import { event, fakeGateway, json, sse } from './fake-gateway.js'

// A client that waits for a gateway that is gone (`callRetryMs`), as a bridge to another machine does.

/** The global fetch, of which a test says what it meets. */
function faultyFetch() {
  const network = { isDown: false, calls: 0 }
  const send: Fetch = async (url, init) => {
    network.calls += 1
    if (network.isDown) throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
    return fetch(url, init)
  }
  return { network, send }
}

test('a call waits for a gateway that has answered before, also one that may be sent only once', async () => {
  const gateway = await fakeGateway((_, response) => json(response, { ok: true, id: 's1', turn: 1 }, 202))
  const { network, send } = faultyFetch()
  const client = createClient({ url: gateway.url, fetch: send, callRetryMs: 60_000 })
  await client.health()
  network.isDown = true
  const prompting = client.sessions.prompt('s1', { prompt: 'hi' })
  await expect.poll(() => network.calls, { timeout: 10_000 }).toBeGreaterThan(3)
  network.isDown = false
  expect(await prompting).toMatchObject({ turn: 1 })
  expect(gateway.seen.map(({ path }) => path)).toEqual(['/health', '/sessions/s1/prompt'])
})

test('a gateway that has never answered, and one that stays away, is given up', async () => {
  const { network, send } = faultyFetch()
  const gateway = await fakeGateway((_, response) => json(response, { ok: true }))
  const client = createClient({ url: gateway.url, fetch: send, callRetryMs: 300 })
  network.isDown = true
  await expect(client.health()).rejects.toMatchObject({ code: 'daemon_not_running' })
  expect(network.calls).toBe(1)
  network.isDown = false
  await client.health()
  network.isDown = true
  await expect(client.health()).rejects.toMatchObject({ code: 'daemon_not_running' })
  expect(network.calls).toBeGreaterThan(3)
})

test('what may have arrived is sent again only where that does its work once', async () => {
  const gateway = await fakeGateway(({ path }, response) =>
    path === '/health' || gateway.seen.length > 5 ? json(response, { ok: true }) : response.destroy(),
  )
  const client = createClient({ url: gateway.url, callRetryMs: 60_000 })
  await client.health()
  await expect(client.sessions.interrupt('s1')).rejects.toMatchObject({ code: 'internal' })
  expect(gateway.seen).toHaveLength(2)
  expect(await client.sessions.interrupt('s1', { turn: 1 })).toEqual({ ok: true })
  expect(gateway.seen.slice(2).map(({ body }) => body)).toEqual(Array.from({ length: 4 }, () => ({ turn: 1 })))
  const answer = { optionId: 'allow' }
  expect(await client.sessions.answer('s1', 'r1', answer)).toEqual({ ok: true })
})

test('a follower whose first connection fails waits, too', async () => {
  const gateway = await fakeGateway(({ path }, response) =>
    path === '/health' ? json(response, { ok: true }) : sse(response).end(event(1, STOPPED)),
  )
  const { network, send } = faultyFetch()
  const client = createClient({ url: gateway.url, fetch: send, callRetryMs: 60_000 })
  await client.health()
  network.isDown = true
  const following = client.sessions.events('s1')[Symbol.asyncIterator]()
  const first = following.next()
  await expect.poll(() => network.calls).toBeGreaterThan(2)
  network.isDown = false
  expect(await first).toMatchObject({ value: { seq: 1 } })
})

const STOPPED = { type: 'session-stopped', status: 'exited' }

test('a real socket that is refused is waited for', async () => {
  const server = createServer((_, response) => json(response, { ok: true }))
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const client = createClient({ url: `http://127.0.0.1:${port}`, callRetryMs: 60_000 })
  await client.health()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const waiting = client.health()
  await listen(port)
  expect(await waiting).toEqual({ ok: true })
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

import { type ConnectionState, createClient, type SessionEvent } from '@agentproto/client'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { event, fakeGateway, json, sse, stopped } from './fake-gateway.js'

// What a client does and says while its gateway is away, and where it looks for it afterwards.

async function seqsOf(events: AsyncIterable<SessionEvent>): Promise<number[]> {
  const seqs: number[] = []
  for await (const { seq } of events) seqs.push(seq)
  return seqs
}

/** An address without a listener. */
async function deafUrl(): Promise<string> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `http://127.0.0.1:${port}`
}

test('a follower reports that the gateway is away, each failed attempt, and that it is back', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) => {
    calls++
    if (calls === 1) sse(response).write(event(1), () => response.destroy())
    else if (calls < 4) response.destroy()
    else sse(response).end(stopped(2))
  })
  const states: ConnectionState[] = []
  const { sessions } = createClient({ url: gateway.url })
  expect(await seqsOf(sessions.events('s1', { onState: (state) => states.push(state) }))).toEqual([1, 2])
  expect(states.map(({ state }) => state)).toEqual([
    'connected',
    'reconnecting',
    'reconnecting',
    'reconnecting',
    'connected',
  ])
  expect(states[1]).toMatchObject({ url: gateway.url, attempt: 0, awayMs: 0 })
  expect(states[3]).toMatchObject({ attempt: 2 })
})

test('a follower goes on at the gateway’s new address, with its new token, behind the last event', async () => {
  const next = await fakeGateway((_, response) => sse(response).end(event(2) + stopped(3)))
  const first = await fakeGateway((_, response) => sse(response).write(event(1), () => response.destroy()))
  const client = createClient({
    url: first.url,
    token: 'old',
    locate: () => Promise.resolve({ url: next.url, token: 'new' }),
  })
  expect(await seqsOf(client.sessions.events('s1'))).toEqual([1, 2, 3])
  expect(first.seen).toHaveLength(1)
  expect(next.seen[0]?.headers).toMatchObject({ authorization: 'Bearer new', 'last-event-id': '1' })
})

test('a call that was not sent is repeated at the current address, also a POST', async () => {
  const gateway = await fakeGateway((_, response) => json(response, { ok: true, id: 's', turn: 1 }, 202))
  let asked = 0
  const locate = (): Promise<{ url: string }> => Promise.resolve({ url: ++asked > 0 ? gateway.url : '' })
  const client = createClient({ url: await deafUrl(), locate })
  expect(await client.sessions.prompt('s', { prompt: 'hi' })).toMatchObject({ turn: 1 })
  await client.sessions.prompt('s', { prompt: 'hi' })
  expect(asked).toBe(1)
})

test('locate may start the gateway at its old address', async () => {
  const url = await deafUrl()
  const server = createHttpServer((_, response) => response.end(JSON.stringify({ ok: true, id: 's', turn: 1 })))
  onTestFinished(() => void server.close())
  async function locate(): Promise<{ url: string }> {
    if (!server.listening) await once(server.listen(Number(new URL(url).port), '127.0.0.1'), 'listening')
    return { url }
  }
  expect(await createClient({ url, locate }).sessions.prompt('s', { prompt: 'hi' })).toMatchObject({ turn: 1 })
})

test('a refused token is looked up again once; without a new one the call stays refused', async () => {
  const gateway = await fakeGateway(({ headers }, response) =>
    headers.authorization === 'Bearer new'
      ? json(response, { sessions: [] })
      : json(response, { code: 'unauthorized', detail: 'Unknown token.' }, 401),
  )
  const located = (token: string) =>
    createClient({ url: gateway.url, token: 'old', locate: () => Promise.resolve({ url: gateway.url, token }) })
  expect(await located('new').sessions.list()).toEqual({ sessions: [] })
  await expect(located('old').sessions.list()).rejects.toMatchObject({ code: 'unauthorized' })
  expect(gateway.seen).toHaveLength(3)
})

test('one who looks for the gateway and fails changes nothing', async () => {
  const client = createClient({ url: await deafUrl(), locate: () => Promise.reject(new Error('no file')) })
  await expect(client.health()).rejects.toMatchObject({ code: 'daemon_not_running' })
})

test('a wait for a turn also reports the outage', async () => {
  const prompted = event(1, { type: 'user-prompt', content: [] })
  const ended = event(2, { type: 'turn-end', reason: 'end_turn' })
  const gateway = await fakeGateway(({ method }, response) => {
    if (method === 'POST') sse(response).write(prompted, () => response.destroy())
    else sse(response).end(ended)
  })
  const states: string[] = []
  const { sessions } = createClient({ url: gateway.url })
  const onState = ({ state }: ConnectionState): void => void states.push(state)
  expect(await sessions.promptAndWait('s1', { prompt: 'hi' }, { onState })).toMatchObject({ reason: 'end_turn' })
  expect(states).toEqual(['connected'])
})

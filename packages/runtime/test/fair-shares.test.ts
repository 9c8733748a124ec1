import { type ClientRequest, request } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { servedGateway, type ServedGateway } from './fixtures/served-gateway.js'

// 12.A6: no caller can hold so many connections, streams or waits that the owner, or an agent, is locked out.

interface Held {
  readonly sent: ClientRequest
  /** The status of its answer; undefined while it waits, and after its connection was closed. */
  status?: number
  isClosed: boolean
}

interface Asked {
  readonly token: string
  readonly route: string
  readonly body?: object
  readonly count: number
}

/** Sends requests, each over a connection of its own, which stays open. */
async function hold(url: string, { token, route, body, count }: Asked): Promise<readonly Held[]> {
  const [method = '', path = ''] = route.split(' ')
  const accept = body === undefined ? 'text/event-stream' : 'application/json, text/event-stream'
  const headers = { authorization: `Bearer ${token}`, accept, 'content-type': 'application/json' }
  const held: Held[] = []
  for (let made = 0; made < count; made++) {
    const sent = request(`${url}${path}`, { method, headers, agent: false })
    const each: Held = { sent, isClosed: false }
    sent.on('error', () => (each.isClosed = true))
    sent.on('response', (response) => {
      each.status = response.statusCode ?? 0
      response.on('error', () => undefined).on('close', () => (each.isClosed = true))
      response.resume()
    })
    sent.end(body && JSON.stringify(body))
    held.push(each)
    if (made % 50 === 49) await new Promise((resolve) => setImmediate(resolve))
  }
  onTestFinished(() => held.forEach(({ sent }) => sent.destroy()))
  return held
}

const countOf = (held: readonly Held[], status: number): number => held.filter((each) => each.status === status).length
const openOf = (held: readonly Held[]): number =>
  held.filter(({ status, isClosed }) => !isClosed && (status === undefined || status === 200)).length

interface Opened extends ServedGateway {
  /** Of a session. */
  readonly id: string
  /** Creates a token that may read. */
  readonly tokenOf: (name: string) => Promise<string>
}

async function opened(): Promise<Opened> {
  const served = await servedGateway()
  const { gateway, spawn } = served
  const tokenOf = async (name: string): Promise<string> => (await gateway.tokens.create({ name, scope: 'read' })).token
  return { ...served, tokenOf, id: (await spawn()).id }
}

/** The owner lists, prompts, waits and follows; each over a connection of its own. */
async function expectOwnerServed({ gateway, url, call, open, id }: Opened): Promise<void> {
  const [list] = await hold(url, { token: gateway.token, route: 'GET /sessions', count: 1 })
  await expect.poll(() => list?.status).toBe(200)
  const { turn } = (await call(`POST /sessions/${id}/prompt`, { prompt: 'hello' })).body
  expect((await call(`GET /sessions/${id}/turns/${String(turn)}?waitSeconds=20`)).body).toMatchObject({
    state: 'ended',
  })
  const stream = await open('/events')
  expect(stream.status).toBe(200)
  await stream.body?.cancel()
}

test('12.A6 a read token opens as many streams as it can, and the owner still reads, prompts and streams', async () => {
  const served = await opened()
  const { url, tokenOf } = served
  const token = await tokenOf('greedy')
  const streams = await hold(url, { token, route: 'GET /events', count: 700 })
  await expect.poll(() => countOf(streams, 200) + countOf(streams, 429), { timeout: 20_000 }).toBe(700)
  await expectOwnerServed(served)
  expect(countOf(streams, 200)).toBe(80)
  const refused = await served.call('GET /sessions', undefined, token)
  expect(refused.status).toBe(200)
})

test('12.A6 it waits for turns as often as it can, and the owner is not locked out; a refusal says when to try again', async () => {
  const served = await opened()
  const { url, tokenOf } = served
  const other = await served.spawn()
  await served.call(`POST /sessions/${other.id}/prompt`, { prompt: 'hang' })
  const token = await tokenOf('greedy')
  const route = `GET /sessions/${other.id}/turns/1?waitSeconds=300`
  const waits = await hold(url, { token, route, count: 1_100 })
  await expect.poll(() => openOf(waits), { timeout: 20_000 }).toBe(128)
  await expectOwnerServed(served)
  const refused = await fetch(`${url}/sessions`, { headers: { authorization: `Bearer ${token}` } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({ code: 'request_limit_reached', retryable: true })
  // A place that is free again is given again.
  waits.forEach(({ sent }) => sent.destroy())
  await expect.poll(async () => (await served.call('GET /sessions', undefined, token)).status).toBe(200)
})

test('12.A6 it waits over MCP, and over few connections with many requests each', async () => {
  const served = await opened()
  const { url, tokenOf } = served
  const other = await served.spawn()
  await served.call(`POST /sessions/${other.id}/prompt`, { prompt: 'hang' })
  const token = await tokenOf('greedy')
  const params = { name: 'wait_agent_turn', arguments: { sessionId: other.id, turn: 1, timeoutSeconds: 40 } }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const calls = await hold(url, { token, route: 'POST /mcp', body, count: 300 })
  await expect.poll(() => openOf(calls), { timeout: 20_000 }).toBe(128)
  // Pipelined on one connection: each is a request too.
  const another = await tokenOf('another')
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  const line = `GET /sessions/${other.id}/turns/1?waitSeconds=300 HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${another}\r\n\r\n`
  socket.write(line.repeat(500))
  await expect.poll(async () => (await served.call('GET /sessions', undefined, another)).status).toBe(429)
  await expectOwnerServed(served)
  expect(await served.tool('list_agent_sessions')).toMatchObject({ sessions: expect.anything() })
})

test('12.A6 many tokens together do not lock out the owner, an agent or one more token', async () => {
  const served = await opened()
  const { url, tokenOf } = served
  const all: Held[] = []
  for (let made = 0; made < 40; made++) {
    const token = await tokenOf(`t${made}`)
    all.push(...(await hold(url, { token, route: 'GET /events', count: 30 })))
  }
  await expect.poll(() => all.filter(({ status }) => status === undefined).length, { timeout: 30_000 }).toBe(0)
  await expect.poll(() => openOf(all)).toBeLessThanOrEqual(320)
  await expectOwnerServed(served)
  const late = await tokenOf('late')
  const [stream] = await hold(url, { token: late, route: 'GET /events', count: 1 })
  await expect.poll(() => stream?.status).toBe(200)
})

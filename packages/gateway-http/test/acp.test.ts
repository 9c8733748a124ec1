import { AgentprotoError, type Principal } from '@agentproto/contracts'
import type { AcpCaller, AcpService, AcpUpgrade } from '@agentproto/contracts/wire'
import type { HttpDeps } from '@agentproto/gateway-http'
import { expect, onTestFinished, test } from 'vitest'
import { type FakeGateway, fakeGateway, OWNER, TOKEN } from './fake-gateway.ts'

// What the HTTP app does for ACP: who may call, what is counted, and what ends a stream. The endpoint behind it is a fake.

const STREAM = { 'content-type': 'text/event-stream' }
const SSE = { accept: 'text/event-stream' }

interface Endpoint extends AcpService {
  readonly callers: AcpCaller[]
  /** Of the streams, in their order. */
  readonly streams: ReadableStreamDefaultController<Uint8Array>[]
  cancelled: number
  readonly places: { readonly connectionId: string; settled: string[] }[]
}

/** Answers a GET with a stream that its test feeds, and a POST with what was sent. */
function fakeEndpoint(): Endpoint {
  const endpoint: Endpoint = {
    callers: [],
    streams: [],
    cancelled: 0,
    places: [],
    async fetch(request, caller) {
      endpoint.callers.push(caller)
      if (request.method !== 'GET') return new Response(`${request.method} ${await request.text()}`)
      if (request.headers.get('acp-connection-id') === 'none') return new Response('Unknown', { status: 404 })
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void endpoint.streams.push(controller),
        cancel: () => void endpoint.cancelled++,
      })
      return new Response(body, { headers: STREAM })
    },
    upgrade(caller): AcpUpgrade {
      endpoint.callers.push(caller)
      const place = { connectionId: `c${endpoint.places.length}`, settled: [] as string[] }
      endpoint.places.push(place)
      return {
        connectionId: place.connectionId,
        accept: () => void place.settled.push('accepted'),
        reject: () => void place.settled.push('rejected'),
      }
    },
  }
  return endpoint
}

function gatewayWith(more: Partial<HttpDeps> = {}): FakeGateway & { readonly endpoint: Endpoint } {
  const endpoint = fakeEndpoint()
  return { ...fakeGateway({ acp: endpoint, ...more }), endpoint }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

function readerOf(response: Response): { read: () => Promise<string | undefined>; cancel: () => Promise<void> } {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => reader.cancel())
  const read = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read()
    return done ? undefined : new TextDecoder().decode(value)
  }
  return { read, cancel: () => reader.cancel() }
}

test('/acp hands the request and its caller on, /acp/:agent also the agent; without an endpoint neither is there', async () => {
  const ended = new AbortController().signal
  const { call, endpoint } = gatewayWith({ revoked: () => ended })
  const answered = await call('POST', '/acp', { a: 1 })
  expect(await answered.text()).toBe('POST {"a":1}')
  expect([answered.headers.get('cache-control'), answered.headers.get('x-content-type-options')]).toEqual([
    'no-store',
    'nosniff',
  ])
  await call('POST', '/acp/demo', {})
  await call('DELETE', '/acp/')
  expect(endpoint.callers).toEqual([
    { by: OWNER, ended },
    { by: OWNER, ended, agent: 'demo' },
    { by: OWNER, ended },
  ])
  for (const path of ['/acp', '/acp/demo'])
    expect(await (await fakeGateway().call('POST', path, {})).json()).toMatchObject({ code: 'route_not_found' })
})

test('the trace of a request is its caller’s', async () => {
  const { call, endpoint } = gatewayWith()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  await call('POST', '/acp', {}, { traceparent })
  expect(endpoint.callers).toMatchObject([{ by: { name: 'owner', trace: { traceparent } } }])
})

test('an agent that is not there is not found, also for a WebSocket', async () => {
  const { call, app, endpoint } = gatewayWith()
  expect(await (await call('POST', '/acp/other', {})).json()).toMatchObject({ code: 'adapter_not_found' })
  const env = { openWebSocket: () => expect.fail('it must not open') }
  const answered = await app.request('/acp/other', { headers: { authorization: `Bearer ${TOKEN}` } }, env)
  expect(await answered.json()).toMatchObject({ status: 404, code: 'adapter_not_found' })
  expect(endpoint.callers).toEqual([])
})

test.each(['HEAD', 'PUT', 'PATCH'])('%s is refused', async (method) => {
  const { call, endpoint } = gatewayWith()
  for (const path of ['/acp', '/acp/demo']) {
    const answered = await call(method, path)
    expect([answered.status, answered.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE, OPTIONS'])
  }
  expect(endpoint.callers).toEqual([])
})

test('OPTIONS says what is supported, a query and an encoded body are refused', async () => {
  const { call, endpoint } = gatewayWith()
  const options = await call('OPTIONS', '/acp')
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, POST, DELETE, OPTIONS'])
  expect((await call('POST', `/acp?token=${TOKEN}`, {})).status).toBe(400)
  expect((await call('POST', '/acp', {}, { 'content-encoding': 'gzip' })).status).toBe(415)
  expect(endpoint.callers).toEqual([])
})

test('a stream is passed on as it is, with a comment when it is silent', async () => {
  const { call, clock, endpoint } = gatewayWith({ keepAliveMs: 1_000 })
  const answered = await call('GET', '/acp', undefined, SSE)
  expect(Object.fromEntries(answered.headers)).toEqual({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
  })
  const { read } = readerOf(answered)
  endpoint.streams[0]?.enqueue(bytes('data: {"a":"ü"}\n\n'))
  expect(await read()).toBe('data: {"a":"ü"}\n\n')
  const next = read()
  await new Promise((resolve) => setImmediate(resolve))
  clock.advance(1_000)
  expect(await next).toBe(': keep-alive\n\n')
  endpoint.streams[0]?.close()
  expect(await read()).toBeUndefined()
  expect(clock.pending).toBe(0)
})

test('a stream that fails ends without a message of ours', async () => {
  const { call, endpoint } = gatewayWith()
  const { read } = readerOf(await call('GET', '/acp', undefined, SSE))
  const next = read()
  endpoint.streams[0]?.error(new Error('stalled'))
  expect(await next).toBeUndefined()
})

test('streams are counted among those of the gateway, and their places come back', async () => {
  let counted: unknown
  const metrics: HttpDeps['metrics'] = async (stats) => JSON.stringify((counted = stats))
  const { call, endpoint } = gatewayWith({ maxStreams: 1, metrics })
  const open = readerOf(await call('GET', '/acp', undefined, SSE))
  expect(await (await call('GET', '/acp', undefined, SSE)).json()).toMatchObject({ code: 'stream_limit_reached' })
  expect(await (await call('GET', '/events')).json()).toMatchObject({ code: 'stream_limit_reached' })
  await call('GET', '/metrics')
  expect(counted).toEqual({ open: 1, refused: 2, behind: 0 })
  await open.cancel()
  expect(endpoint.cancelled).toBe(1)
  // An answer that is no stream holds nothing, nor does a failure.
  const unknown = await call('GET', '/acp', undefined, { ...SSE, 'acp-connection-id': 'none' })
  expect([unknown.status, await unknown.text()]).toEqual([404, 'Unknown'])
  endpoint.fetch = () => Promise.reject(new AgentprotoError('request_limit_reached', 'Too many'))
  expect((await call('GET', '/acp', undefined, SSE)).status).toBe(429)
  await call('GET', '/metrics')
  expect(counted).toEqual({ open: 0, refused: 2, behind: 0 })
})

test.each(['the token of its caller', 'the gateway'])('a stream ends with %s', async (what) => {
  const [token, closing] = [new AbortController(), new AbortController()]
  const { call, clock, endpoint } = gatewayWith({ revoked: () => token.signal, signal: closing.signal })
  const { read } = readerOf(await call('GET', '/acp', undefined, SSE))
  const next = read()
  await new Promise((resolve) => setImmediate(resolve))
  ;(what === 'the gateway' ? closing : token).abort()
  expect(await next).toBeUndefined()
  await new Promise((resolve) => setImmediate(resolve))
  expect([endpoint.cancelled, clock.pending]).toEqual([1, 0])
})

interface Opening {
  readonly headers: Readonly<Record<string, string>>
  readonly onOpen: (socket: unknown) => void
}

const authorization = `Bearer ${TOKEN}`

test('a WebSocket is opened with the id of its connection, which it has until then', async () => {
  const { app, endpoint } = gatewayWith()
  const openings: Opening[] = []
  const openWebSocket = async (opening: Opening): Promise<Response> => {
    openings.push(opening)
    expect(endpoint.places[0]?.settled).toEqual([])
    opening.onOpen({})
    return new Response('open')
  }
  const answered = await app.request('/acp/demo', { headers: { authorization } }, { openWebSocket })
  expect(await answered.text()).toBe('open')
  expect(openings).toMatchObject([{ headers: { 'acp-connection-id': 'c0' } }])
  expect(endpoint.places[0]?.settled).toEqual(['accepted'])
  expect(endpoint.callers).toEqual([{ by: OWNER, agent: 'demo' }])
})

test('a handshake that fails gives its place back', async () => {
  const { app, endpoint } = gatewayWith()
  const openWebSocket = () => Promise.reject(new AgentprotoError('invalid_request', 'No handshake'))
  const answered = await app.request('/acp', { headers: { authorization } }, { openWebSocket })
  expect(await answered.json()).toMatchObject({ status: 400, code: 'invalid_request' })
  expect(endpoint.places[0]?.settled).toEqual(['rejected'])
})

const cookie = `agentproto_7646=${TOKEN}`
const host = 'localhost:7646'
const FROM_PAGE = { cookie, host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }
const browsers = {} as NonNullable<HttpDeps['browsers']>

test.each([
  ['a page of the gateway with its cookie', FROM_PAGE, 'open'],
  ['a page of another port with the cookie', { ...FROM_PAGE, origin: 'http://localhost:3000' }, 'origin_not_allowed'],
  ['a page of the same site with the cookie', { ...FROM_PAGE, 'sec-fetch-site': 'same-site' }, 'origin_not_allowed'],
  ['a foreign page with the cookie', { ...FROM_PAGE, origin: 'https://evil.example' }, 'origin_not_allowed'],
  ['a foreign page with a token', { authorization, host, origin: 'https://evil.example' }, 'origin_not_allowed'],
  ['a sandboxed page with the cookie', { ...FROM_PAGE, origin: 'null' }, 'origin_not_allowed'],
  ['a page through another name', { ...FROM_PAGE, host: 'evil.example' }, 'host_not_allowed'],
  ['a page without a cookie', { host, origin: `http://${host}` }, 'unauthorized'],
  ['a program with a wrong token', { authorization: 'Bearer wrong', host }, 'unauthorized'],
])('a WebSocket of %s: %s', async (_, headers, expected) => {
  const { app, endpoint } = gatewayWith({ browsers })
  const openWebSocket = async ({ onOpen }: Opening): Promise<Response> => {
    onOpen({})
    return Response.json({ code: 'open' })
  }
  const answered = await app.request(`http://${host}/acp`, { headers }, { openWebSocket })
  expect(await answered.json()).toMatchObject({ code: expected })
  expect(endpoint.callers).toHaveLength(expected === 'open' ? 1 : 0)
})

test('pages of allowed origins may send and read the headers of ACP', async () => {
  const { app } = gatewayWith({ allowedOrigins: ['https://app.example'] })
  const asked = { origin: 'https://app.example', host: 'localhost', 'access-control-request-method': 'POST' }
  const preflight = await app.request('http://localhost/acp', { method: 'OPTIONS', headers: asked })
  const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(',')
  expect(allowed).toEqual(expect.arrayContaining(['acp-connection-id', 'acp-session-id', 'acp-client-id']))
  const answered = await app.request('http://localhost/acp', {
    method: 'POST',
    headers: { origin: 'https://app.example', host: 'localhost', authorization },
  })
  expect(answered.headers.get('access-control-expose-headers')).toBe('acp-connection-id,acp-session-id')
  expect(answered.headers.get('access-control-allow-origin')).toBe('https://app.example')
})

test('a listener that rejects named tokens rejects them here too', async () => {
  const by: Principal = { type: 'token', name: 'ci', scope: 'admin' }
  const { app, endpoint } = gatewayWith({ authenticate: () => by })
  const env = { rejectNamedTokens: true, openWebSocket: () => expect.fail('it must not open') }
  const answered = await app.request('/acp', { headers: { authorization } }, env)
  expect(await answered.json()).toMatchObject({ status: 403, code: 'forbidden' })
  expect(endpoint.callers).toEqual([])
})

import { BOUNDS, OPERATIONS } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { fakeGateway, TOKEN } from './fake-gateway.ts'

const authorization = `Bearer ${TOKEN}`

async function refusal(response: Response | Promise<Response>): Promise<unknown[]> {
  const answer = await response
  const problem = (await answer.json()) as { code: string; status: number }
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(problem.status).toBe(answer.status)
  return [answer.status, problem.code]
}

test('every route but /health needs a token, also routes that are not there', async () => {
  const { app } = fakeGateway()
  for (const path of [
    '/sessions',
    '/sessions/x/stream',
    '/events',
    '/requests',
    '/workspaces',
    '/adapters',
    '/mcp',
    '/acp',
    '/acp/demo',
    '/nowhere',
  ]) {
    const response = await app.request(path)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
    expect(await refusal(response)).toEqual([401, 'unauthorized'])
  }
  for (const wrong of ['Bearer unknown', `Basic ${TOKEN}`, TOKEN, 'Bearer ', `Bearer ${TOKEN} ${TOKEN}`]) {
    expect(await refusal(app.request('/sessions', { headers: { authorization: wrong } }))).toEqual([
      401,
      'unauthorized',
    ])
  }
  expect((await app.request('/sessions', { headers: { authorization: `bearer ${TOKEN}` } })).status).toBe(200)
  expect((await app.request('/health')).status).toBe(200)
})

test('12 a token in the query is ignored, and wrong tokens, however many, lock no one out', async () => {
  const { app } = fakeGateway()
  for (const name of ['token', 'access_token', 'authorization', 'code'])
    expect(await refusal(app.request(`/sessions?${name}=${TOKEN}`))).toEqual([401, 'unauthorized'])
  for (let tries = 0; tries < 1_000; tries++) {
    const { status } = await app.request('/sessions', { headers: { authorization: `Bearer wrong-${tries}` } })
    expect(status).toBe(401)
  }
  expect((await app.request('/sessions', { headers: { authorization } })).status).toBe(200)
})

test('a refusal does not repeat the token that was given', async () => {
  const response = await fakeGateway().app.request('/sessions', {
    headers: { authorization: 'Bearer something-secret' },
  })
  expect(await response.text()).not.toContain('something-secret')
})

test.each([
  ['localhost', 200],
  ['localhost:7646', 200],
  ['LocalHost:1', 200],
  ['127.0.0.1:7646', 200],
  ['127.9.9.9', 200],
  ['[::1]:7646', 200],
  ['gw.example:9', 200],
  ['one.example:443', 200],
  ['one.example:444', 403],
  ['evil.example', 403],
  ['localhost.evil.example', 403],
  ['127.0.0.1.evil.example', 403],
  ['evil.example:7646', 403],
  ['0.0.0.0', 403],
  ['[::2]', 403],
])('F80 Host %s is answered %i', async (host, status) => {
  const { app } = fakeGateway({ allowedHosts: ['GW.example', 'one.example:443'] })
  const response = await app.request('/sessions', { headers: { authorization, host } })
  const answer = (await response.json()) as { code?: string }
  expect([response.status, answer.code]).toEqual([status, status === 403 ? 'host_not_allowed' : undefined])
})

test.each([
  ['http://localhost:3000', 200],
  ['https://127.0.0.1', 200],
  ['http://[::1]:5173', 200],
  ['http://gw.example', 200],
  ['https://console.example', 200],
  ['https://console.example:444', 403],
  ['https://evil.example', 403],
  ['https://localhost.evil.example', 403],
  ['http://localhost@evil.example', 403],
  ['null', 403],
  ['', 403],
])('F80 Origin "%s" is answered %i, on a read too', async (origin, status) => {
  const { app } = fakeGateway({ allowedHosts: ['gw.example'], allowedOrigins: ['https://console.example'] })
  const response = await app.request('/sessions', { headers: { authorization, host: 'gw.example', origin } })
  const answer = (await response.json()) as { code?: string }
  expect([response.status, answer.code]).toEqual([status, status === 403 ? 'origin_not_allowed' : undefined])
})

test.each([
  ['https://host.example', 'host.example', 200],
  ['http://host.example', 'host.example', 403],
  ['https://host.example:444', 'host.example', 403],
  ['https://evil.example', 'host.example', 403],
  ['null', 'host.example', 403],
  ['https://host.example', 'host.example:444', 403],
  ['https://host.example', 'other.example', 403],
  // A proxy that passes its own name for the gateway on.
  ['https://host.example', '127.0.0.1:7646', 403],
])('F80 at the public address Origin "%s" with Host "%s" is answered %i', async (origin, host, status) => {
  const { app } = fakeGateway({ publicUrl: 'https://host.example/agents' })
  const response = await app.request('/sessions', { headers: { authorization, host, origin } })
  expect(response.status).toBe(status)
})

test('/health is refused to foreign hosts and origins as well', async () => {
  const { app } = fakeGateway()
  expect(await refusal(app.request('/health', { headers: { host: 'evil.example' } }))).toEqual([
    403,
    'host_not_allowed',
  ])
  expect(await refusal(app.request('/health', { headers: { origin: 'https://evil.example' } }))).toEqual([
    403,
    'origin_not_allowed',
  ])
})

test('pages of an allowed origin may read answers; others may not', async () => {
  const origin = 'https://console.example'
  const { app } = fakeGateway({ allowedOrigins: [origin] })
  const preflight = await app.request('/sessions/agent', {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
  expect(preflight.headers.get('access-control-allow-headers')).toContain('authorization')
  const read = await app.request('/sessions', { headers: { authorization, origin } })
  expect([read.status, read.headers.get('access-control-allow-origin'), read.headers.get('vary')]).toEqual([
    200,
    origin,
    'Origin',
  ])
  const refused = await app.request('/sessions', { headers: { origin } })
  expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([401, origin])
  const local = await app.request('/sessions', { headers: { authorization, origin: 'http://localhost:1' } })
  expect([local.status, local.headers.get('access-control-allow-origin')]).toEqual([200, null])
})

test('a body must be JSON: 415 for another type or none, 400 for broken JSON', async () => {
  const { app, call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const post = (body: string | Uint8Array, type?: string): Promise<Response> =>
    Promise.resolve(
      app.request('/sessions/s1/prompt', {
        method: 'POST',
        body,
        headers: { authorization, ...(type === undefined ? {} : { 'content-type': type }) },
      }),
    )
  const valid = '{"prompt":"x"}'
  expect(await refusal(post(valid))).toEqual([415, 'unsupported_media_type'])
  expect(await refusal(post(valid, 'text/plain'))).toEqual([415, 'unsupported_media_type'])
  expect(await refusal(post(valid, 'application/json-patch+json'))).toEqual([415, 'unsupported_media_type'])
  expect(await refusal(post(new TextEncoder().encode(valid)))).toEqual([415, 'unsupported_media_type'])
  expect(await refusal(post('{"prompt":', 'application/json'))).toEqual([400, 'invalid_json'])
  expect(await refusal(post('[]', 'application/json'))).toEqual([400, 'invalid_request'])
  expect((await post(valid, 'application/json; charset=utf-8')).status).toBe(202)
})

test('a POST without a body needs no content-type, and lacks its fields', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  expect((await call('POST', '/sessions/s1/interrupt')).status).toBe(200)
  const response = await call('POST', '/sessions/s1/prompt')
  expect(await response.json()).toMatchObject({
    status: 400,
    code: 'invalid_request',
    field: 'prompt',
    given: 'nothing',
  })
})

test('a body beyond the bound is refused with 413, by its length or while it is read', async () => {
  const { app, call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const headers = { authorization, 'content-type': 'application/json' }
  const huge = JSON.stringify({ prompt: 'x'.repeat(BOUNDS.bodyBytes) })
  const claimed = { ...headers, 'content-length': String(BOUNDS.bodyBytes + 1) }
  expect(await refusal(app.request('/sessions/s1/prompt', { method: 'POST', headers: claimed, body: '{}' }))).toEqual([
    413,
    'payload_too_large',
  ])
  expect(await refusal(app.request('/sessions/s1/prompt', { method: 'POST', headers, body: huge }))).toEqual([
    413,
    'payload_too_large',
  ])
  const lied = { ...headers, 'content-length': '5' }
  expect(await refusal(app.request('/sessions/s1/prompt', { method: 'POST', headers: lied, body: huge }))).toEqual([
    413,
    'payload_too_large',
  ])
  expect(sessions.calls.filter(([name]) => name === 'prompt')).toEqual([])
})

test('an endless body is cancelled at the bound', async () => {
  let pulled = 0
  let cancelled = false
  const body = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array((pulled += 65_536) && 65_536).fill(32)),
    cancel: () => void (cancelled = true),
  })
  const { app } = fakeGateway()
  const init = { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body, duplex: 'half' }
  expect(await refusal(app.request('/sessions/agent', init as RequestInit))).toEqual([413, 'payload_too_large'])
  expect(cancelled).toBe(true)
  expect(pulled).toBeLessThan(2 * BOUNDS.bodyBytes)
})

test('a prompt of the largest size is taken', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  expect((await call('POST', '/sessions/s1/prompt', { prompt: 'x'.repeat(BOUNDS.promptBytes) })).status).toBe(202)
})

test('a wrong field is named with what was expected and what was given', async () => {
  const { call } = fakeGateway()
  const spawn = async (body: unknown): Promise<unknown> => (await call('POST', '/sessions/agent', body)).json()
  expect(await spawn({})).toMatchObject({
    code: 'invalid_request',
    field: 'adapter',
    expected: 'a string',
    given: 'nothing',
  })
  expect(await spawn({ adapter: 7 })).toMatchObject({ field: 'adapter', expected: 'a string', given: '7' })
  expect(await spawn({ adapter: 'demo', permissionMode: 'never' })).toMatchObject({
    field: 'permissionMode',
    expected: 'one of ask, approve-reads, approve-all, deny-all',
    given: '"never"',
  })
  expect(await spawn({ adapter: 'demo', prompt: [{ type: 'text' }] })).toMatchObject({
    field: 'prompt.0.text',
    expected: 'a string',
  })
  expect((await call('GET', '/sessions?limit=0')).status).toBe(400)
  expect(await (await call('GET', '/sessions?limt=5')).json()).toMatchObject({ field: 'limt' })
})

test('F70 an unknown field is refused, never dropped', async () => {
  const response = await fakeGateway().call('POST', '/sessions/agent', { adapter: 'demo', sandboxx: true })
  expect(await response.json()).toMatchObject({ status: 400, code: 'invalid_request', field: 'sandboxx' })
})

test('nothing that is sent gives a 5xx', async () => {
  const { app, call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'ask' })
  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  const bodies = [
    'null',
    '0',
    '""',
    '[]',
    '{}',
    '{"prompt":null}',
    `{"prompt":${deep}}`,
    `{"x":${deep}}`,
    deep,
    '\u0000',
    '{"__proto__":{"prompt":"x"}}',
    '{"prompt":{"toString":1}}',
    `{"action":"accept","content":{"a":${deep}}}`,
    `{"optionId":${deep}}`,
  ]
  const paths = [
    '/sessions/agent',
    '/sessions/s1/prompt',
    '/sessions/s1/kill',
    '/sessions/s1/requests/r1',
    '/workspaces',
    '/sessions/%E0%A4%A/prompt',
    '/sessions/%00/prompt',
  ]
  for (const path of paths) {
    for (const body of bodies) {
      const response = await app.request(path, {
        method: 'POST',
        body,
        headers: { authorization, 'content-type': 'application/json' },
      })
      expect([path, body.slice(0, 40), response.status < 500]).toEqual([path, body.slice(0, 40), true])
    }
  }
  for (const query of [
    'after=-1',
    'after=1e400',
    'after=x',
    'limit=0',
    'limit=1e9',
    'after=1&after=2',
    '%',
    'after=%00',
    'a[b]=c',
  ]) {
    for (const path of ['/sessions', '/sessions/s1/events', '/sessions/s1/output', '/sessions/s1/stream']) {
      const response = await call('GET', `${path}?${query}`)
      expect([path, query, response.status < 500]).toEqual([path, query, true])
      await response.body?.cancel()
    }
  }
})

test('an error of ours is returned as it is, a foreign one only as 500', async () => {
  const received: unknown[] = []
  const { call, sessions } = fakeGateway({ onError: (error, where) => received.push([error, where]) })
  const foreign = new Error('secret path /home/x')
  sessions.failure = foreign
  const response = await call('GET', '/sessions')
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('/home/x')
  expect(received).toEqual([[foreign, { method: 'GET', path: '/sessions' }]])
})

const served = new Set(fakeGateway().app.routes.map(({ method, path }) => `${method} ${path}`))

test.each(Object.keys(OPERATIONS).filter((route) => served.has(route)))(
  '12.B5 an unknown query parameter is refused: %s',
  async (route) => {
    const { app } = fakeGateway()
    const [method = '', path = ''] = route.split(' ')
    const request = { method, headers: { authorization } }
    const asked = `${path.replaceAll(/:(\w+)/g, 's1').replace('/agents/s1', '/agents/demo')}?stream=true`
    expect(await refusal(app.request(asked, request))).toEqual([400, 'invalid_request'])
  },
)

test('13.2 a parameter that is repeated is refused where one is expected, and a patch takes several paths', async () => {
  const { app, sessions } = fakeGateway()
  await sessions.spawn({ adapter: 'demo' }, { type: 'owner', name: 'owner' })
  const get = (path: string) => app.request(path, { headers: { authorization } })
  expect((await get('/sessions/s1/changes/diff?path=a.txt&path=b.txt')).status).toBe(200)
  expect(await refusal(get('/sessions/s1/changes?turn=1&turn=2'))).toEqual([400, 'invalid_request'])
  const many = Array.from({ length: 101 }, () => 'path=a').join('&')
  expect(await refusal(get(`/sessions/s1/changes/diff?${many}`))).toEqual([400, 'invalid_request'])
  expect(await refusal(get('/sessions/s1/changes/diff?path=a&path='))).toEqual([400, 'invalid_request'])
})

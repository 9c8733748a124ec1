import { expect, test, vi } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'

test('GET /health returns the version and what the host adds', async () => {
  const { app } = fakeGateway({ health: () => ({ uptimeMs: 5 }) })
  const response = await app.request('/health')
  expect([response.status, await response.json()]).toEqual([200, { ok: true, version: '1.2.3', uptimeMs: 5 }])
})

test('GET /sessions hands its filter on, as values', async () => {
  const { call, sessions } = fakeGateway()
  await call(
    'GET',
    '/sessions?status=running&adapter=demo&workspace=w&label=l&q=t&onlyAlive=true&since=2026-11-21T10:00:00Z&endedSince=2026-11-20T10:00:00.123Z&limit=5&after=c',
  )
  const filter = {
    status: 'running',
    adapter: 'demo',
    workspace: 'w',
    label: 'l',
    q: 't',
    onlyAlive: true,
    since: '2026-11-21T10:00:00Z',
    endedSince: '2026-11-20T10:00:00.123Z',
    limit: 5,
    after: 'c',
  }
  expect(sessions.calls.at(-1)).toEqual(['list', filter])
})

test('a prompt with wait is answered 200 with the finished turn', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const response = await call('POST', '/sessions/s1/prompt', { prompt: 'hello', wait: true })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    ok: true,
    id: 's1',
    turn: 1,
    result: { number: 1, state: 'ended', reason: 'end_turn', text: 'the answer' },
  })
})

test('a prompt with wait whose end is known with the prompt is not waited for again', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  await sessions.prompt('s1', { prompt: 'hello' }, OWNER)
  const result = await sessions.waitTurn('s1', 1)
  Object.assign(sessions, {
    prompt: async () => ({ turn: 1, result }),
    waitTurn: () => Promise.reject(new Error('waited again')),
  })
  const finished = await call('POST', '/sessions/s1/prompt', { prompt: 'hello', wait: true })
  expect([finished.status, await finished.json()]).toEqual([200, { ok: true, id: 's1', turn: 1, result }])
  const accepted = await call('POST', '/sessions/s1/prompt', { prompt: 'hello' })
  expect([accepted.status, await accepted.json()]).toEqual([202, { ok: true, id: 's1', turn: 1 }])
})

test('a prompt that is answered as a stream asks for no end of its turn', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const prompt = vi.spyOn(sessions, 'prompt')
  const streamed = await call(
    'POST',
    '/sessions/s1/prompt',
    { prompt: 'hello', wait: true },
    { accept: 'text/event-stream' },
  )
  expect(await streamed.text()).toContain('turn-end')
  expect(prompt.mock.calls.map(([, { wait }]) => wait)).toEqual([false])
})

test('F1 a client that stops waiting changes nothing: the turn runs on and ends for everybody else', async () => {
  const { app, call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const gone = new AbortController()
  const headers = { authorization: 'Bearer a-token-of-the-owner', 'content-type': 'application/json' }
  const body = '{"prompt":"hang","wait":true}'
  const waiting = app.request('/sessions/s1/prompt', { method: 'POST', headers, body, signal: gone.signal })
  await new Promise((resolve) => setImmediate(resolve))
  gone.abort()
  await new Promise((resolve) => setImmediate(resolve))
  expect((await sessions.turns('s1')).at(-1)).toMatchObject({ number: 1, state: 'running' })
  sessions.endTurn('s1')
  expect((await waiting).status).toBe(200)
  expect((await sessions.turns('s1')).at(-1)).toMatchObject({ number: 1, state: 'ended', reason: 'end_turn' })
})

test('POST /sessions/:id/resume starts an ended session again, and is refused on a live one', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  expect((await call('POST', '/sessions/s1/resume')).status).toBe(409)
  await call('POST', '/sessions/s1/kill')
  const response = await call('POST', '/sessions/s1/resume', { fresh: true })
  expect([response.status, await response.json()]).toMatchObject([200, { status: 'running', resumedHow: 'fresh' }])
  expect((await call('POST', '/sessions/s1/resume', { fresh: 'yes' })).status).toBe(400)
})

test.each(['interrupt', 'cancel'])(
  'POST /sessions/:id/%s is idempotent and returns whether a turn ran',
  async (verb) => {
    const { call } = fakeGateway()
    await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'hang' })
    expect(await (await call('POST', `/sessions/s1/${verb}`)).json()).toEqual({ ok: true, id: 's1', wasBusy: true })
    expect(await (await call('POST', `/sessions/s1/${verb}`, {})).json()).toEqual({
      ok: true,
      id: 's1',
      wasBusy: false,
    })
    expect((await call('POST', `/sessions/s1/${verb}`, { turn: 1 })).status).toBe(200)
    expect((await call('POST', `/sessions/s1/${verb}`, { turn: 0 })).status).toBe(400)
  },
)

test('GET /sessions/:id/output returns the last lines', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'one' })
  await call('POST', '/sessions/s1/prompt', { prompt: 'two' })
  const line = (text: string): object => ({ line: `echo "${text}"`, stream: 'stdout' })
  expect(await (await call('GET', '/sessions/s1/output')).json()).toEqual({ lines: [line('one'), line('two')] })
  expect(await (await call('GET', '/sessions/s1/output?lastN=1')).json()).toEqual({ lines: [line('two')] })
  expect((await call('GET', '/sessions/s1/output?lastN=2001')).status).toBe(400)
})

test('GET /sessions/:id/turns lists the turns', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'one' })
  expect(await (await call('GET', '/sessions/s1/turns')).json()).toMatchObject({
    turns: [{ number: 1, state: 'ended', firstSeq: 2, lastSeq: 4 }],
  })
})

test('GET /sessions/:id/turns returns pages with the cursor of the next one', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  for (const prompt of ['one', 'two', 'three']) await call('POST', '/sessions/s1/prompt', { prompt })
  expect(await (await call('GET', '/sessions/s1/turns?after=1&limit=1')).json()).toMatchObject({
    turns: [{ number: 2 }],
    nextAfter: 2,
  })
  expect(await (await call('GET', '/sessions/s1/turns?after=3')).json()).toEqual({ turns: [], nextAfter: 3 })
})

test('GET /sessions/:id/turns/:turn returns one turn, and waits for its end if asked to', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'hang' })
  expect(await (await call('GET', '/sessions/s1/turns/1')).json()).toMatchObject({ number: 1, state: 'running' })
  const waiting = call('GET', '/sessions/s1/turns/1?waitSeconds=60')
  await expect.poll(() => sessions.calls.some(([name]) => name === 'waitTurn'), { timeout: 10_000 }).toBe(true)
  sessions.endTurn('s1')
  expect(await (await waiting).json()).toMatchObject({ number: 1, state: 'ended', parts: [] })
  expect((await call('GET', '/sessions/s1/turns/2')).status).toBe(404)
  expect((await call('GET', '/sessions/s1/turns/2?waitSeconds=1')).status).toBe(404)
})

test('GET /sessions/:id/turns/:turn answers with the turn as it is when the time is up', async () => {
  const { call, sessions, clock } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'hang' })
  const waiting = call('GET', '/sessions/s1/turns/1?waitSeconds=5')
  await expect.poll(() => sessions.calls.some(([name]) => name === 'waitTurn'), { timeout: 10_000 }).toBe(true)
  clock.advance(5_000)
  expect(await (await waiting).json()).toMatchObject({ number: 1, state: 'running' })
})

test('GET /sessions/:id/events pages through the log, each record as it is stored', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'one' })
  const first = await call('GET', '/sessions/s1/events?limit=3')
  const stored = sessions
    .log('s1')
    .records.slice(0, 3)
    .map(({ json }) => json)
  expect(await first.text()).toBe(`{"events":[${stored.join(',')}],"nextAfter":3}`)
  expect(await (await call('GET', '/sessions/s1/events?after=3')).json()).toMatchObject({
    events: [{ seq: 4, type: 'turn-end' }],
    nextAfter: 4,
  })
  expect(await (await call('GET', '/sessions/s1/events?after=4')).json()).toEqual({ events: [], nextAfter: 4 })
})

test('a page of events has its gap', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'one' })
  sessions.log('s1').first = 3
  expect(await (await call('GET', '/sessions/s1/events?after=1')).json()).toMatchObject({
    events: [{ seq: 3 }, { seq: 4 }],
    gap: { after: 1, first: 3 },
  })
})

test('a page of large events is cut, and goes on where it was', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const text = 'x'.repeat(6 * 1024 * 1024)
  for (let i = 0; i < 4; i++) sessions.log('s1').append({ type: 'text-delta', text })
  const seqs: number[][] = []
  for (let after = 0; ;) {
    const page = (await (await call('GET', `/sessions/s1/events?after=${after}`)).json()) as {
      events: { seq: number }[]
      nextAfter: number
    }
    if (page.events.length === 0) break
    seqs.push(page.events.map(({ seq }) => seq))
    after = page.nextAfter
  }
  expect(seqs).toEqual([
    [1, 2, 3],
    [4, 5],
  ])
})

test('requests are listed and answered by option or action', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'ask' })
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'ask' })
  expect(await (await call('GET', '/requests')).json()).toMatchObject({
    requests: [{ sessionId: 's1' }, { sessionId: 's2' }],
  })
  expect(await (await call('GET', '/sessions/s2/requests')).json()).toMatchObject({
    requests: [{ requestId: 'r1', state: 'pending' }],
  })
  const answered = await call('POST', '/sessions/s1/requests/r1', { optionId: 'yes' })
  expect(await answered.json()).toMatchObject({
    requestId: 'r1',
    state: 'resolved',
    answer: { outcome: 'selected', optionId: 'yes' },
  })
  expect((await call('POST', '/sessions/s1/requests/r1', { optionId: 'yes' })).status).toBe(409)
  expect((await call('POST', '/sessions/s1/requests/r9', { optionId: 'yes' })).status).toBe(404)
  await call('POST', '/sessions/s2/requests/r1', { action: 'cancel' })
  expect(sessions.calls.at(-1)).toEqual(['answer', 's2', 'r1', { outcome: 'cancelled' }, OWNER])
})

test.each([
  [
    { action: 'accept', content: { name: 'x' } },
    { outcome: 'accept', content: { name: 'x' } },
  ],
  [{ action: 'accept' }, { outcome: 'accept' }],
  [{ action: 'decline' }, { outcome: 'decline' }],
])('the answer %j is handed on as %j', async (given, handed) => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'ask' })
  await call('POST', '/sessions/s1/requests/r1', given)
  expect(sessions.calls.at(-1)).toEqual(['answer', 's1', 'r1', handed, OWNER])
})

test('/workspaces adds, lists, uses and removes', async () => {
  const { call } = fakeGateway()
  const added = await call('POST', '/workspaces', { path: '/work/a', slug: 'a', label: 'A' })
  expect([added.status, added.headers.get('location')]).toEqual([201, 'workspaces/a'])
  expect(await added.json()).toMatchObject({ slug: 'a', path: '/work/a', label: 'A' })
  expect(await (await call('POST', '/workspaces/a/use')).json()).toMatchObject({ slug: 'a' })
  expect(await (await call('GET', '/workspaces')).json()).toMatchObject({
    version: 1,
    active: 'a',
    workspaces: [{ slug: 'a' }],
  })
  expect(await (await call('DELETE', '/workspaces/a')).json()).toEqual({ ok: true, slug: 'a' })
  expect((await call('DELETE', '/workspaces/a')).status).toBe(404)
})

test('/adapters lists and describes what can be spawned', async () => {
  const { call } = fakeGateway()
  expect(await (await call('GET', '/adapters')).json()).toMatchObject({ adapters: [{ slug: 'demo' }] })
  expect(await (await call('GET', '/adapters/demo')).json()).toMatchObject({ slug: 'demo', installed: true })
  expect(await (await call('GET', '/adapters/other')).json()).toMatchObject({ status: 404, code: 'adapter_not_found' })
})

test('/mcp hands the request and its principal on, and is not there without an endpoint', async () => {
  const asked: unknown[] = []
  const { call } = fakeGateway({
    mcp: async (request, by) => {
      asked.push([request.method, await request.text(), by])
      return new Response('mcp')
    },
  })
  expect(await (await call('POST', '/mcp', { a: 1 })).text()).toBe('mcp')
  expect(asked).toEqual([['POST', '{"a":1}', OWNER]])
  expect((await fakeGateway().call('POST', '/mcp', {})).status).toBe(404)
})

test.each([
  ['GET', '/nowhere'],
  ['POST', '/sessions/s1/nowhere'],
  ['GET', '/'],
])('%s %s is answered 404 with a problem', async (method, path) => {
  const response = await fakeGateway().call(method, path)
  expect(await response.json()).toMatchObject({ status: 404, code: 'route_not_found', given: `${method} ${path}` })
})

test.each([
  ['PUT', '/sessions', 'GET, HEAD, OPTIONS'],
  ['GET', '/sessions/agent', 'POST, OPTIONS'],
  ['PUT', '/sessions/s1', 'GET, PATCH, DELETE, HEAD, OPTIONS'],
  ['GET', '/sessions/s1/prompt', 'POST, OPTIONS'],
  ['DELETE', '/sessions/s1/stream', 'GET, HEAD, OPTIONS'],
  ['POST', '/health', 'GET, HEAD, OPTIONS'],
])('%s %s is answered 405 with what is allowed', async (method, path, allow) => {
  const { call } = fakeGateway()
  const response = await call(method, path)
  expect([response.status, response.headers.get('allow')]).toEqual([405, allow])
  expect(await response.json()).toMatchObject({ code: 'method_not_allowed', given: method })
  const options = await call('OPTIONS', path)
  expect([options.status, options.headers.get('allow')]).toEqual([204, allow])
})

test('HEAD answers as GET without a body, and opens no stream', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const list = await call('HEAD', '/sessions')
  expect([list.status, list.headers.get('content-type'), await list.text()]).toEqual([200, 'application/json', ''])
  for (const path of ['/sessions/s1/stream', '/events']) {
    const stream = await call('HEAD', path)
    expect([stream.status, stream.headers.get('content-type'), await stream.text()]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      '',
    ])
  }
  expect(sessions.log('s1').open).toBe(0)
  expect(sessions.feed.watchers).toBe(0)
  expect((await call('HEAD', '/sessions/unknown/stream')).status).toBe(404)
})

test('answers are not kept by anyone and not sniffed', async () => {
  const response = await fakeGateway().call('GET', '/sessions')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-content-type-options')).toBe('nosniff')
})

test('the trace that the headers of a request name goes with the call; a bad one is dropped', async () => {
  const { app, sessions } = fakeGateway()
  const trace = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
  const spawn = async (more: Record<string, string>): Promise<unknown> => {
    const headers = { authorization: 'Bearer a-token-of-the-owner', 'content-type': 'application/json', ...more }
    const response = await app.request('/sessions/agent', { method: 'POST', headers, body: '{"adapter":"demo"}' })
    expect(response.status).toBe(201)
    return sessions.calls.at(-1)
  }
  expect(await spawn(trace)).toEqual(['spawn', { adapter: 'demo' }, { ...OWNER, trace }])
  for (const bad of [{ tracestate: 'a=1' }, { ...trace, traceparent: 'x'.repeat(10_000) }, { traceparent: '' }])
    expect(await spawn(bad)).toEqual(['spawn', { adapter: 'demo' }, OWNER])
})

import { expect, onTestFinished, test } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'
import { readMessages } from './read-messages.ts'

// AIP-46 §HTTP surface, row by row, and §SSE event format.

test('AIP-46 GET /sessions: returns { sessions }', async () => {
  const { call } = fakeGateway()
  expect(await (await call('GET', '/sessions')).json()).toEqual({ sessions: [] })
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const response = await call('GET', '/sessions')
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ sessions: [{ id: 's1', adapterSlug: 'demo', status: 'running' }] })
})

test('AIP-46 POST /sessions/agent: answers 201 with the Session and hands every field on', async () => {
  const { call, sessions } = fakeGateway()
  const request = { adapter: 'demo', workspaceSlug: 'main', cwd: '/work/a', prompt: 'hello', label: 'mine' }
  const response = await call('POST', '/sessions/agent', request)
  expect(response.status).toBe(201)
  expect(response.headers.get('location')).toBe('../sessions/s1')
  expect(await response.json()).toMatchObject({
    id: 's1',
    workspaceSlug: 'main',
    cwd: '/work/a',
    label: 'mine',
    status: 'running',
  })
  expect(sessions.calls[0]).toEqual(['spawn', request, OWNER])
})

test('AIP-46 no adapter installed: POST /sessions/agent answers 501 with the install command', async () => {
  const response = await fakeGateway().call('POST', '/sessions/agent', { adapter: 'none' })
  expect(response.status).toBe(501)
  expect(await response.json()).toMatchObject({ code: 'no_adapter_installed', hint: 'Run x' })
})

test('AIP-46 GET /sessions/:id: returns the Session', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const response = await call('GET', '/sessions/s1')
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ id: 's1', status: 'running', cwd: '/work' })
  expect((await call('GET', '/sessions/s2')).status).toBe(404)
})

test('AIP-46 POST /sessions/:id/prompt: returns { ok: true, id }', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const response = await call('POST', '/sessions/s1/prompt', { prompt: 'hello' })
  expect(response.status).toBe(202)
  expect(await response.json()).toEqual({ ok: true, id: 's1', turn: 1 })
  expect(sessions.calls.at(-1)).toEqual(['prompt', 's1', { prompt: 'hello' }, OWNER])
})

test('AIP-46 overlapping prompts over HTTP: each is refused with 409', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'hang' })
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('POST', '/sessions/s1/prompt', { prompt: 'again' })),
  )
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([409]))
  expect(await answers[0]?.json()).toMatchObject({ code: 'turn_in_progress', retryable: true })
})

test('AIP-46 POST /sessions/:id/kill: returns { ok, id }, with a body or without', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const bare = await call('POST', '/sessions/s1/kill')
  expect([bare.status, await bare.json()]).toEqual([200, { ok: true, id: 's1' }])
  expect(await (await call('POST', '/sessions/s1/kill')).json()).toEqual({ ok: false, id: 's1' })
  await call('POST', '/sessions/s2/kill', { reason: 'budget_exceeded' })
  expect(sessions.calls.at(-1)).toEqual(['kill', 's2', OWNER, 'budget_exceeded'])
})

test('AIP-46 DELETE /sessions/:id: forgets and returns { ok, id }', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const response = await call('DELETE', '/sessions/s1')
  expect([response.status, await response.json()]).toEqual([200, { ok: true, id: 's1' }])
  expect((await call('GET', '/sessions/s1')).status).toBe(404)
})

test('AIP-46 GET /sessions/:id/stream: sends line and status events as JSON, buffered lines first, and ends with the session', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'one' })
  const response = await call('GET', '/sessions/s1/stream')
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  await sessions.kill('s1', OWNER)
  expect(await readMessages(response)).toEqual([
    {
      id: '1.1',
      event: 'status',
      data: {
        type: 'status',
        status: 'running',
        previous: 'starting',
        seq: 1,
        sessionId: 's1',
        ts: expect.any(String),
      },
    },
    { id: '3.1', event: 'line', data: { line: 'echo "one"', stream: 'stdout' } },
    { id: '5.1', event: 'status', data: expect.objectContaining({ status: 'killed', previous: 'running' }) },
  ])
})

test('AIP-46 SSE line: one JSON object a message, with the line and its stream and nothing else', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo', prompt: 'a "quoted"\nword' })
  await sessions.kill('s1', OWNER)
  const text = await (await call('GET', '/sessions/s1/stream')).text()
  const data = [...text.matchAll(/^event: line\ndata: (.*)\n\n/gm)].map(([, line = '']) => JSON.parse(line) as object)
  expect(data).toEqual([{ line: 'echo "a \\"quoted\\"\\nword"', stream: 'stdout' }])
})

test('AIP-46 SSE status: each transition, with the status that was before', async () => {
  const { call, sessions } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  await sessions.kill('s1', OWNER)
  const received = (await readMessages(await call('GET', '/sessions/s1/stream'))).filter(
    ({ event }) => event === 'status',
  )
  expect(received.map(({ data }) => data)).toMatchObject([
    { previous: 'starting', status: 'running' },
    { previous: 'running', status: 'killed' },
  ])
})

test('AIP-46 SSE keep-alive: a comment after each 25 s of silence, and none before', async () => {
  const { call, clock } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  const reader = (await call('GET', '/sessions/s1/stream')).body?.getReader()
  onTestFinished(() => reader?.cancel())
  const read = async (): Promise<string> => new TextDecoder().decode((await reader?.read())?.value)
  expect(await read()).toBe('retry: 1000\n\n')
  expect(await read()).toContain('event: status')
  for (let time = 0; time < 2; time++) {
    const received: string[] = []
    const next = read().then((text) => received.push(text))
    await settled()
    clock.advance(24_999)
    await settled()
    expect(received).toEqual([])
    clock.advance(1)
    await next
    expect(received).toEqual([': keep-alive\n\n'])
  }
})

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

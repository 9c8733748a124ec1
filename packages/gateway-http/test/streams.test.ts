import { AgentprotoError } from '@agentproto/contracts'
import { PENDING_CHANGES_MAX, PendingChanges } from '@agentproto/contracts/wire'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fakeGateway, OWNER } from './fake-gateway.ts'
import type { FakeGateway } from './fake-gateway.ts'
import { parseMessages, readMessages } from './read-messages.ts'

const SSE = { accept: 'text/event-stream' }
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function started(prompt?: string, more: Parameters<typeof fakeGateway>[0] = {}): Promise<FakeGateway> {
  const gateway = fakeGateway(more)
  await gateway.call('POST', '/sessions/agent', { adapter: 'demo', ...(prompt === undefined ? {} : { prompt }) })
  return gateway
}

/** Reads chunk by chunk, as far as a test wants. */
function chunksOf(response: Response): { read: () => Promise<string | undefined>; cancel: () => Promise<void> } {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  onTestFinished(() => reader.cancel())
  const read = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read()
    return done ? undefined : new TextDecoder().decode(value)
  }
  return { read, cancel: () => reader.cancel() }
}

test('GET /sessions/:id/events as SSE: id is the seq, event the type, data the record as stored', async () => {
  const { call, sessions } = await started('one')
  await sessions.kill('s1', OWNER)
  const text = await (await call('GET', '/sessions/s1/events', undefined, SSE)).text()
  const { records } = sessions.log('s1')
  expect(text).toBe(
    'retry: 1000\n\n' + records.map(({ seq, type, json }) => `id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`).join(''),
  )
  expect(text.match(/event: session-stopped/g)).toHaveLength(1)
})

test('both kinds of stream resume after Last-Event-ID, which wins over ?after=', async () => {
  const { call, sessions } = await started('one')
  await sessions.kill('s1', OWNER)
  const ids = async (path: string, headers: Record<string, string>): Promise<unknown[]> =>
    (await readMessages(await call('GET', path, undefined, { ...SSE, ...headers }))).map(({ id }) => id)
  expect(await ids('/sessions/s1/events?after=4', {})).toEqual(['5', '6'])
  expect(await ids('/sessions/s1/events?after=1', { 'last-event-id': '5' })).toEqual(['6'])
  expect(await ids('/sessions/s1/stream?after=1.1', {})).toEqual(['3.1', '5.1'])
  expect(await ids('/sessions/s1/stream?after=3', {})).toEqual(['5.1'])
  expect(await ids('/sessions/s1/stream?after=1.1', { 'last-event-id': '3.1' })).toEqual(['5.1'])
})

test('F66 a stream that sent nothing yet keeps the cursor it was asked for', async () => {
  const { call, sessions } = await started('one')
  const stream = chunksOf(await call('GET', '/sessions/s1/events?after=4', undefined, SSE))
  expect(await stream.read()).toBe('retry: 1000\n\n')
  const next = stream.read()
  sessions.log('s1').append({ type: 'notice', severity: 'info', text: 'five' })
  expect(parseMessages((await next) ?? '').map(({ id }) => id)).toEqual(['5'])
})

test('GET /events ends for a client that is too far behind, which then connects again and lists the sessions', async () => {
  const { call, sessions } = await started()
  const changes = new PendingChanges(() => undefined)
  vi.spyOn(sessions, 'watch').mockReturnValueOnce(changes)
  const stream = chunksOf(await call('GET', '/events', undefined, SSE))
  expect(await stream.read()).toContain('event: ready')
  for (let n = 0; n < PENDING_CHANGES_MAX; n++) changes.put({ type: 'forgotten', id: `s${n}` })
  expect(await stream.read()).toContain('data: {"id":"s0"}')
  // The client has not read the rest of these.
  for (let n = 0; n <= PENDING_CHANGES_MAX; n++) changes.put({ type: 'forgotten', id: `t${n}` })
  let rest = ''
  for (let chunk = await stream.read(); chunk !== undefined; chunk = await stream.read()) rest += chunk
  expect(rest).toContain(`data: {"id":"s${PENDING_CHANGES_MAX - 1}"}`)
  expect(rest).not.toContain('"t')
})

test('a cursor that is no cursor is refused', async () => {
  const { call } = await started()
  for (const [path, id] of [
    ['/sessions/s1/stream', '1.2.3'],
    ['/sessions/s1/events', '1.1'],
    ['/sessions/s1/events', 'x'],
  ] as const) {
    const response = await call('GET', path, undefined, { ...SSE, 'last-event-id': id })
    expect(await response.json()).toMatchObject({ status: 400, code: 'invalid_request', field: 'Last-Event-ID' })
  }
  expect((await call('GET', '/sessions/s1/stream?after=x')).status).toBe(400)
})

test('F68 a cursor past the terminal event is answered 204, so that an EventSource gives up', async () => {
  const { call, sessions } = await started('one')
  await sessions.kill('s1', OWNER)
  expect((await call('GET', '/sessions/s1/events', undefined, { ...SSE, 'last-event-id': '6' })).status).toBe(204)
  expect((await call('GET', '/sessions/s1/stream', undefined, { 'last-event-id': '6.1' })).status).toBe(204)
  expect(sessions.log('s1').open).toBe(0)
})

test('a gap is sent before the events after it, with an id that resumes after it', async () => {
  const { call, sessions } = await started('one')
  sessions.log('s1').first = 3
  await sessions.kill('s1', OWNER)
  const [gap, first] = await readMessages(await call('GET', '/sessions/s1/events', undefined, SSE))
  expect(gap).toEqual({ id: '2', event: 'gap', data: { after: 0, first: 3 } })
  expect(first).toMatchObject({ id: '3' })
})

test('a prompt with Accept: text/event-stream is answered with that turn’s events and ends after its turn-end', async () => {
  const { call, sessions } = await started('one')
  const response = await call('POST', '/sessions/s1/prompt', { prompt: 'two' }, SSE)
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  sessions.log('s1').append({ type: 'notice', severity: 'info', text: 'later' })
  const messages = await readMessages(response)
  expect(messages.map(({ event }) => event)).toEqual(['user-prompt', 'text-delta', 'turn-end'])
  expect(messages.at(0)).toMatchObject({ id: '5', data: { turn: 2 } })
  expect(sessions.log('s1').open).toBe(0)
})

test('a refused prompt is a problem, also where a stream was asked for', async () => {
  const { call, sessions } = await started('hang')
  const response = await call('POST', '/sessions/s1/prompt', { prompt: 'two' }, SSE)
  expect(await response.json()).toMatchObject({ status: 409, code: 'turn_in_progress' })
  expect(sessions.log('s1').open).toBe(0)
})

test('JSON is answered where JSON is named beside event-stream', async () => {
  const { call } = await started('one')
  const response = await call('GET', '/sessions/s1/events', undefined, {
    accept: 'application/json, text/event-stream',
  })
  expect(response.headers.get('content-type')).toBe('application/json')
})

test('GET /events begins with ready and sends each session that changed, and who was forgotten', async () => {
  const { call, sessions } = await started()
  const stream = chunksOf(await call('GET', '/events'))
  expect(await stream.read()).toBe('retry: 1000\n\nevent: ready\ndata: {}\n\n')
  expect(await stream.read()).toContain('event: session\ndata: {"id":"s1"')
  const next = stream.read()
  await sessions.kill('s1', OWNER)
  expect(parseMessages((await next) ?? '')).toMatchObject([{ event: 'session', data: { id: 's1', status: 'killed' } }])
  await sessions.forget('s1', OWNER)
  expect(await stream.read()).toBe('event: forgotten\ndata: {"id":"s1"}\n\n')
  await stream.cancel()
  expect(sessions.feed.watchers).toBe(0)
})

test('a client that goes away closes its reader and its timer, also while it waits', async () => {
  const { call, sessions, clock } = await started()
  const stream = chunksOf(await call('GET', '/sessions/s1/stream'))
  await stream.read()
  await stream.read()
  void stream.read()
  await settled()
  expect([sessions.log('s1').open, clock.pending]).toEqual([1, 1])
  await stream.cancel()
  expect([sessions.log('s1').open, clock.pending]).toEqual([0, 0])
})

test('nothing is pulled for a client that does not read, and nothing is lost', async () => {
  const { call, sessions } = await started()
  let pulls = 0
  const follow = sessions.follow.bind(sessions)
  sessions.follow = async (id, after) => {
    const reader = await follow(id, after)
    return { next: (signal) => (pulls++, reader.next(signal)), close: () => reader.close() }
  }
  const response = await call('GET', '/sessions/s1/events', undefined, SSE)
  for (let i = 0; i < 1_000; i++) sessions.log('s1').append({ type: 'text-delta', text: String(i) })
  await settled()
  expect(pulls).toBe(0)
  await sessions.kill('s1', OWNER)
  expect((await readMessages(response)).map(({ id }) => Number(id))).toEqual(
    Array.from({ length: 1_003 }, (_, i) => i + 1),
  )
})

test('nothing polls: of a hundred streams in silence each has one pull and one timer, whose comment is all that it does', async () => {
  const { call, sessions, clock } = await started('one')
  let pulls = 0
  const follow = sessions.follow.bind(sessions)
  sessions.follow = async (id, after) => {
    const reader = await follow(id, after)
    return { next: (signal) => (pulls++, reader.next(signal)), close: () => reader.close() }
  }
  const streams = await Promise.all(
    Array.from({ length: 100 }, async () => chunksOf(await call('GET', '/sessions/s1/events?after=4', undefined, SSE))),
  )
  for (const stream of streams) await stream.read()
  const waiting = streams.map((stream) => stream.read())
  await settled()
  expect([pulls, clock.pending]).toEqual([100, 100])
  for (let minute = 0; minute < 10; minute++) clock.advance(60_000)
  expect(await Promise.all(waiting)).toEqual(streams.map(() => ': keep-alive\n\n'))
  await settled()
  expect([pulls, clock.pending]).toEqual([100, 100])
})

test('a large batch is sent in pieces', async () => {
  const { call, sessions } = await started()
  for (let i = 0; i < 50; i++) sessions.log('s1').append({ type: 'text-delta', text: 'x'.repeat(20_000) })
  const stream = chunksOf(await call('GET', '/sessions/s1/events', undefined, SSE))
  const sizes: number[] = []
  for (let text = ''; !text.includes('id: 51\n');) sizes.push((text = (await stream.read()) ?? '').length)
  expect(sizes.length).toBeGreaterThan(6)
  expect(Math.max(...sizes)).toBeLessThan(160_000)
})

test('silence is counted from the last message', async () => {
  const { call, sessions, clock } = await started(undefined, { keepAliveMs: 1_000 })
  const stream = chunksOf(await call('GET', '/sessions/s1/events?after=1', undefined, SSE))
  await stream.read()
  clock.advance(900)
  const said = stream.read()
  await settled()
  sessions.log('s1').append({ type: 'text-delta', text: 'x' })
  expect(await said).toContain('id: 2')
  const kept = stream.read()
  await settled()
  clock.advance(999)
  sessions.log('s1').append({ type: 'text-delta', text: 'y' })
  expect(await kept).toContain('id: 3')
})

test('a failure in the middle of a stream is its last message', async () => {
  const received: unknown[] = []
  const { call, sessions } = await started(undefined, { onError: (error) => received.push(error) })
  for (const thrown of [new AgentprotoError('storage_corrupt', 'Unreadable'), new Error('foreign')]) {
    sessions.follow = async () => ({ next: () => Promise.reject(thrown), close: () => {} })
    const messages = await readMessages(await call('GET', '/sessions/s1/events', undefined, SSE))
    const code = thrown instanceof AgentprotoError ? 'storage_corrupt' : 'internal'
    expect(messages).toEqual([{ event: 'problem', data: expect.objectContaining({ code, status: 500 }) }])
  }
  expect(received).toEqual([new Error('foreign')])
})

test('streams beyond the bound are refused until one ends', async () => {
  const { call } = await started(undefined, { maxStreams: 2 })
  const first = await call('GET', '/events')
  const second = await call('GET', '/sessions/s1/stream')
  expect(await (await call('GET', '/events')).json()).toMatchObject({
    status: 429,
    code: 'stream_limit_reached',
    retryable: true,
  })
  await first.body?.cancel()
  const third = await call('GET', '/events')
  expect(third.status).toBe(200)
  await Promise.all([second.body?.cancel(), third.body?.cancel()])
})

test('a stream that could not be opened is not counted', async () => {
  const { call } = await started(undefined, { maxStreams: 1 })
  for (let i = 0; i < 3; i++) expect((await call('GET', '/sessions/unknown/stream')).status).toBe(404)
  for (let i = 0; i < 3; i++)
    expect((await call('POST', '/sessions/unknown/prompt', { prompt: 'x' }, SSE)).status).toBe(404)
  const response = await call('GET', '/events')
  expect(response.status).toBe(200)
  await response.body?.cancel()
})

test('every stream ends when the host’s signal aborts, and no new one begins', async () => {
  const closing = new AbortController()
  const { call, sessions } = await started(undefined, { signal: closing.signal })
  const open = await Promise.all([
    call('GET', '/events'),
    call('GET', '/sessions/s1/stream'),
    call('GET', '/sessions/s1/events', undefined, SSE),
  ])
  const texts = Promise.all(open.map((response) => response.text()))
  await settled()
  closing.abort()
  expect(await texts).toHaveLength(3)
  expect([sessions.log('s1').open, sessions.feed.watchers]).toEqual([0, 0])
  expect((await call('GET', '/events')).status).toBe(503)
})

import { HOST_EVENT_TYPES, STREAM_EVENT_TYPES } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { createClient, type SessionEvent } from '@agentproto/client'
import { event, fakeGateway, json, sse, stopped } from './fake-gateway.js'

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
const seqs = (events: readonly SessionEvent[]): number[] => events.map(({ seq }) => seq)

test('a dropped stream is resumed after the last id, and a repeated event is handed out once', async () => {
  const gateway = await fakeGateway(({ headers }, response) => {
    if (headers['last-event-id'] === '0') {
      sse(response).write(event(1) + event(2), () => response.destroy())
    } else sse(response).end(event(2) + event(3) + stopped(4))
  })
  const events = await collect(createClient({ url: gateway.url }).sessions.events('s1'))
  expect(seqs(events)).toEqual([1, 2, 3, 4])
  expect(gateway.seen.map(({ headers }) => headers['last-event-id'])).toEqual(['0', '2'])
  expect(gateway.seen[0]?.headers.accept).toBe('text/event-stream')
})

test('F66 a stream that breaks before its first event resumes from the cursor that was asked for', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) => {
    if (++calls === 1) sse(response).write(': hello\n\n', () => response.destroy())
    else sse(response).end(event(8) + stopped(9))
  })
  expect(seqs(await collect(createClient({ url: gateway.url }).sessions.events('s1', { after: 7 })))).toEqual([8, 9])
  expect(gateway.seen[1]?.headers['last-event-id']).toBe('7')
})

test('the first connection is not tried again', async () => {
  const problem = { code: 'session_not_found', detail: 'There is none.' }
  const gateway = await fakeGateway((_, response) => json(response, problem, 404))
  await expect(collect(createClient({ url: gateway.url }).sessions.events('nope'))).rejects.toMatchObject({
    code: 'session_not_found',
  })
  expect(gateway.seen).toHaveLength(1)
})

test('an answer that will not change ends a follower also after it was connected', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) => {
    if (++calls === 1) sse(response).end(event(1))
    else json(response, { code: 'session_not_found', detail: 'It was forgotten.' }, 404)
  })
  await expect(collect(createClient({ url: gateway.url }).sessions.events('s1'))).rejects.toMatchObject({
    code: 'session_not_found',
  })
})

test('a gateway that stays away is given up after reconnectMs', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) => (++calls === 1 ? sse(response).end(event(1)) : response.destroy()))
  const client = createClient({ url: gateway.url, reconnectMs: 250 })
  await expect(collect(client.sessions.events('s1'))).rejects.toMatchObject({ code: 'daemon_not_running' })
  expect(calls).toBeGreaterThan(2)
})

test('a silent stream is taken for dead and opened again', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) => {
    if (++calls === 1) sse(response).write(event(1))
    else sse(response).end(stopped(2))
  })
  expect(seqs(await collect(createClient({ url: gateway.url, idleMs: 100 }).sessions.events('s1')))).toEqual([1, 2])
})

test('a gap is reported, and without a listener it is an error', async () => {
  const gateway = await fakeGateway((_, response) =>
    sse(response).end(`event: gap\ndata: {"after":0,"first":5}\n\n${event(5)}${stopped(6)}`),
  )
  const { sessions } = createClient({ url: gateway.url })
  const gaps: unknown[] = []
  expect(seqs(await collect(sessions.events('s1', { onGap: (gap) => gaps.push(gap) })))).toEqual([5, 6])
  expect(gaps).toEqual([{ after: 0, first: 5 }])
  await expect(collect(sessions.events('s1'))).rejects.toMatchObject({ code: 'storage_corrupt' })
})

test('aborting a follower ends it as cancelled and closes its connection', async () => {
  const closed = deferred()
  const gateway = await fakeGateway((_, response) => {
    response.on('close', () => closed.resolve())
    sse(response).write(event(1))
  })
  const abort = new AbortController()
  const following = collect(
    (async function* () {
      for await (const one of createClient({ url: gateway.url }).sessions.events('s1', { signal: abort.signal })) {
        abort.abort()
        yield one
      }
    })(),
  )
  await expect(following).rejects.toMatchObject({ code: 'cancelled' })
  await closed.promise
})

test('aborting ends a follower also if an injected fetch ignores the signal', async () => {
  const fetch = (): Promise<Response> =>
    Promise.resolve(new Response(new ReadableStream(), { headers: { 'content-type': 'text/event-stream' } }))
  const abort = new AbortController()
  const following = collect(
    createClient({ url: 'http://gateway', fetch }).sessions.events('s1', { signal: abort.signal }),
  )
  setImmediate(() => abort.abort())
  await expect(following).rejects.toMatchObject({ code: 'cancelled' })
})

test('output lines and status changes come with their cursors and resume after them', async () => {
  const line = (id: string, text: string): string =>
    `id: ${id}\nevent: line\ndata: {"line":"${text}","stream":"stdout"}\n\n`
  let calls = 0
  const gateway = await fakeGateway((_, response) => {
    if (++calls === 1) sse(response).end(line('3.0', 'a') + line('3.10', 'b'))
    else
      sse(response).end(
        `${line('3.9', 'old')}${line('4.0', 'c')}id: 5.0\nevent: status\ndata: {"type":"status","status":"exited"}\n\n`,
      )
  })
  const items = await collect(createClient({ url: gateway.url }).sessions.stream('s1'))
  expect(items.map(({ cursor }) => cursor)).toEqual(['3.0', '3.10', '4.0', '5.0'])
  expect(gateway.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '3.10'])
})

test('a stream that has nothing left ends at once', async () => {
  const gateway = await fakeGateway((_, response) => response.writeHead(204).end())
  expect(await collect(createClient({ url: gateway.url }).sessions.events('s1', { after: 9 }))).toEqual([])
  expect(gateway.seen).toHaveLength(1)
})

test('a problem in the middle of a stream is thrown, one that passes is waited out', async () => {
  const problem = (code: string): string => `event: problem\ndata: {"code":"${code}","detail":"x"}\n\n`
  const answers = [event(1) + problem('shutting_down'), event(2) + problem('storage_corrupt')]
  const gateway = await fakeGateway((_, response) => sse(response).end(answers.shift()))
  const got: number[] = []
  const following = (async () => {
    for await (const { seq } of createClient({ url: gateway.url }).sessions.events('s1')) got.push(seq)
  })()
  await expect(following).rejects.toMatchObject({ code: 'storage_corrupt' })
  expect(got).toEqual([1, 2])
})

test('an error event of the log is an event like any other', async () => {
  const gateway = await fakeGateway((_, response) =>
    sse(response).end(event(1, { type: 'error', message: 'm' }) + stopped(2)),
  )
  const events = await collect(createClient({ url: gateway.url }).sessions.events('s1'))
  expect(events[0]).toMatchObject({ type: 'error', message: 'm' })
})

test('watch starts with every session, and reports after an outage which were deleted', async () => {
  let connects = 0
  const gateway = await fakeGateway(({ path }, response) => {
    if (path.startsWith('/sessions'))
      return json(response, { sessions: connects === 1 ? [{ id: 'a' }, { id: 'b' }] : [{ id: 'b' }] })
    connects++
    sse(response).write(`event: session\ndata: {"id":"c"}\n\n`)
    if (connects === 1) setImmediate(() => response.end())
  })
  const abort = new AbortController()
  const received: string[] = []
  for await (const change of createClient({ url: gateway.url }).watch({ signal: abort.signal })) {
    received.push(change.type === 'session' ? change.session.id : `-${change.id}`)
    if (received.length === 7) break
  }
  expect(received).toEqual(['a', 'b', 'c', '-a', '-c', 'b', 'c'])
})

test('watch without the list returns only changes, and reports when to list the rest', async () => {
  let connects = 0
  const gateway = await fakeGateway((_, response) => {
    connects++
    sse(response).write(`event: session\ndata: {"id":"c${connects}"}\n\n`)
    if (connects === 1) setImmediate(() => response.end())
  })
  const received: string[] = []
  const watching = { listed: false, onState: ({ state }: { state: string }) => void received.push(state) }
  for await (const change of createClient({ url: gateway.url }).watch(watching)) {
    received.push(change.type === 'session' ? change.session.id : '')
    if (received.length >= 5) break
  }
  expect(received).toEqual(['connected', 'c1', 'reconnecting', 'connected', 'c2'])
  expect(gateway.seen.map(({ path }) => path)).toEqual(['/events', '/events'])
})

test('promptAndWait reads its own turn to the end, over a dropped connection', async () => {
  const gateway = await fakeGateway(({ method }, response) => {
    if (method === 'POST') sse(response).write(prompted(10) + delta(11, 'one '), () => response.destroy())
    else sse(response).write(delta(11, 'one ') + delta(12, 'two') + turnEnd(13, 1) + turnEnd(14, 2))
  })
  const result = await createClient({ url: gateway.url }).sessions.promptAndWait('s1', { prompt: 'hi' })
  expect(result).toMatchObject({
    number: 2,
    firstSeq: 10,
    lastSeq: 14,
    state: 'ended',
    reason: 'end_turn',
    text: 'one two',
  })
  expect(gateway.seen.map(({ method, headers }) => [method, headers['last-event-id']])).toEqual([
    ['POST', undefined],
    ['GET', '11'],
  ])
  expect(gateway.seen[0]).toMatchObject({
    path: '/sessions/s1/prompt',
    body: { prompt: 'hi' },
    headers: { accept: 'text/event-stream' },
  })
})

test('promptAndWait does not prompt again when nothing came back, and says that the outcome is unknown', async () => {
  const gateway = await fakeGateway((_, response) => sse(response).write(': hello\n\n', () => response.destroy()))
  const call = createClient({ url: gateway.url }).sessions.promptAndWait('s1', { prompt: 'hi' })
  await expect(call).rejects.toMatchObject({
    code: 'internal',
    message: expect.stringContaining('may have executed the call'),
  })
  expect(gateway.seen).toHaveLength(1)
})

test('promptAndWait that is aborted is cancelled', async () => {
  const abort = new AbortController()
  const gateway = await fakeGateway((_, response) => {
    sse(response).write(prompted(1))
    setImmediate(() => abort.abort())
  })
  const call = createClient({ url: gateway.url }).sessions.promptAndWait(
    's1',
    { prompt: 'hi' },
    { signal: abort.signal },
  )
  await expect(call).rejects.toMatchObject({ code: 'cancelled' })
})

test('waitTurn follows the log from the start of that turn', async () => {
  const gateway = await fakeGateway(({ path }, response) => {
    if (path.endsWith('/turns?after=1&limit=1')) json(response, { turns: [{ number: 2, firstSeq: 10 }] })
    else if (path.includes('/turns?')) json(response, { turns: [] })
    else if (path.includes('/turns/')) json(response, { code: 'turn_not_found', title: 'No', status: 404 }, 404)
    else
      sse(response).write(
        prompted(10) + delta(11, 'text') + event(12, { type: 'error', message: 'm', turn: 2 }) + turnEnd(13, 2),
      )
  })
  const { sessions } = createClient({ url: gateway.url })
  expect(await sessions.waitTurn('s1', 2)).toMatchObject({
    number: 2,
    firstSeq: 10,
    lastSeq: 13,
    text: 'text',
    error: 'm',
  })
  expect(gateway.seen.at(-1)?.headers['last-event-id']).toBe('9')
  await expect(sessions.waitTurn('s1', 3)).rejects.toMatchObject({ code: 'turn_not_found' })
})

test('waitTurn of a queued turn skips what comes before it', async () => {
  const gateway = await fakeGateway(({ path }, response) => {
    if (path.includes('/turns?')) json(response, { turns: [] })
    else if (path.includes('/turns/')) json(response, { number: 2, state: 'queued', afterSeq: 4 })
    else sse(response).write(turnEnd(5, 1) + prompted(6) + delta(7, 'text') + turnEnd(8, 2))
  })
  const { sessions } = createClient({ url: gateway.url })
  expect(await sessions.waitTurn('s1', 2)).toMatchObject({ firstSeq: 6, lastSeq: 8, text: 'text' })
  expect(gateway.seen.at(-1)?.headers['last-event-id']).toBe('4')
})

const prompted = (seq: number): string => event(seq, { type: 'user-prompt', content: [], turn: 2 })
const turnEnd = (seq: number, turn: number): string => event(seq, { type: 'turn-end', reason: 'end_turn', turn })
const delta = (seq: number, text: string): string => event(seq, { type: 'text-delta', text, turn: 2 })

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

test('F65 an event reaches its follower whatever its name is', async () => {
  const types = [...STREAM_EVENT_TYPES, ...HOST_EVENT_TYPES].filter((type) => type !== 'session-stopped')
  const gateway = await fakeGateway((_, response) =>
    sse(response).end(types.map((type, at) => event(at + 1, { type })).join('') + stopped(types.length + 1)),
  )
  const events = await collect(createClient({ url: gateway.url }).sessions.events('s1'))
  expect(events.map(({ type }) => type)).toEqual([...types, 'session-stopped'])
})

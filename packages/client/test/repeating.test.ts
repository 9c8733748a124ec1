import { createClient } from '@agentproto/client'
import { expect, test } from 'vitest'
import { event, fakeGateway, json, sse } from './fake-gateway.js'

// A call is made again where that does its work once: what only reads, and what bears an idempotency key (F40).

const idempotencyKey = 'k1'

test('a start with an idempotency key is repeated with it when its connection breaks', async () => {
  let calls = 0
  const gateway = await fakeGateway((_, response) =>
    ++calls < 3 ? response.destroy() : json(response, { id: 's1' }, 201),
  )
  const { sessions } = createClient({ url: gateway.url })
  expect(await sessions.start({ adapter: 'demo', idempotencyKey })).toEqual({ id: 's1' })
  const body = { adapter: 'demo', idempotencyKey }
  expect(gateway.seen.map((request) => request.body)).toEqual([body, body, body])
})

test('a prompt with an idempotency key is repeated with it; one without is not', async () => {
  const gateway = await fakeGateway((_, response) =>
    gateway.seen.length === 1 ? response.destroy() : json(response, { ok: true, id: 's1', turn: 1 }, 202),
  )
  const { sessions } = createClient({ url: gateway.url })
  expect(await sessions.prompt('s1', { prompt: 'hi', idempotencyKey })).toMatchObject({ turn: 1 })
  expect(gateway.seen).toHaveLength(2)
  const other = await fakeGateway((_, response) => response.destroy())
  const once = createClient({ url: other.url }).sessions
  await expect(once.prompt('s1', { prompt: 'hi' })).rejects.toMatchObject({ code: 'internal' })
  expect(other.seen).toHaveLength(1)
})

test('a call that stays broken is not repeated for ever', async () => {
  const gateway = await fakeGateway((_, response) => response.destroy())
  const { sessions } = createClient({ url: gateway.url })
  await expect(sessions.start({ adapter: 'demo', idempotencyKey })).rejects.toMatchObject({ code: 'internal' })
  expect(gateway.seen).toHaveLength(3)
})

test('promptAndWait with an idempotency key prompts again when nothing came back, and reads that turn', async () => {
  const gateway = await fakeGateway((_, response) => {
    if (gateway.seen.length === 1) sse(response).write(': hello\n\n', () => response.destroy())
    else sse(response).end(event(1, { type: 'user-prompt', content: [] }) + event(2) + ended(3))
  })
  const { sessions } = createClient({ url: gateway.url })
  expect(await sessions.promptAndWait('s1', { prompt: 'hi', idempotencyKey })).toMatchObject({ number: 1, text: '2' })
  expect(gateway.seen.map(({ method, body }) => [method, body])).toEqual([
    ['POST', { prompt: 'hi', idempotencyKey }],
    ['POST', { prompt: 'hi', idempotencyKey }],
  ])
})

const ended = (seq: number): string => event(seq, { type: 'turn-end', reason: 'end_turn' })

test('a gap that is sent again after a dropped connection is reported once', async () => {
  const gap = 'id: 4\nevent: gap\ndata: {"after":0,"first":5}\n\n'
  const gateway = await fakeGateway((_, response) => {
    if (gateway.seen.length === 1) sse(response).write(gap, () => response.destroy())
    else sse(response).end(gap + event(5) + event(6, { type: 'session-stopped', status: 'exited' }))
  })
  const gaps: unknown[] = []
  const seqs: number[] = []
  const { sessions } = createClient({ url: gateway.url })
  for await (const { seq } of sessions.events('s1', { onGap: (lost) => gaps.push(lost) })) seqs.push(seq)
  expect([gaps, seqs]).toEqual([[{ after: 0, first: 5 }], [5, 6]])
  expect(gateway.seen.map(({ headers }) => headers['last-event-id'])).toEqual(['0', '4'])
})

test('a listener that throws ends the follower with what it threw, and nothing is repeated', async () => {
  const gateway = await fakeGateway((_, response) =>
    sse(response).end(`id: 4\nevent: gap\ndata: {"after":0,"first":5}\n\n${event(5)}`),
  )
  const thrown = new TypeError('the listener’s own')
  const onGap = (): never => {
    throw thrown
  }
  const following = createClient({ url: gateway.url }).sessions.events('s1', { onGap })[Symbol.asyncIterator]()
  await expect(following.next()).rejects.toBe(thrown)
  expect(gateway.seen).toHaveLength(1)
})

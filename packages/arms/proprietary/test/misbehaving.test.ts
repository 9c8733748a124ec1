import type { AgentSignal } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { adapter, allow, capabilities, connect, never, of, talk } from './connecting.ts'

const HI = { type: 'text-delta', text: 'hi' }
const END = { type: 'turn-end', reason: 'end_turn' }
const typesOf = (signals: readonly AgentSignal[]): readonly string[] => signals.map(({ type }) => type)

test('connecting to an adapter that never connects ends within the limit, and its signal aborts', async () => {
  let aborted = false
  let closed = false
  const client = adapter({
    connect: ({ abortSignal }) => (abortSignal.addEventListener('abort', () => (aborted = true)), never()),
    close: async () => void (closed = true),
  })
  await expect(connect({ allowed: allow(client) }, { handshakeMs: 50 })).rejects.toMatchObject({ code: 'timeout' })
  expect([aborted, closed]).toEqual([true, true])
})

test.each([
  ['throws', () => Promise.reject(new Error('no licence'))],
  [
    'throws before it has a promise',
    () => {
      throw new Error('no licence')
    },
  ],
])('an adapter whose connect %s is a failed handshake', async (_, odd) => {
  await expect(connect({ allowed: allow(adapter({ connect: odd })) })).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringContaining('no licence'),
  })
})

test('a send that rejects is a failed turn', async () => {
  const { say } = await talk({ send: () => Promise.reject(new Error('the pipe broke')), events: () => of() })
  expect(await say('x')).toMatchObject([{ type: 'error' }, { type: 'turn-end', reason: 'error', empty: true }])
})

test('events that fail, or end, in the middle of a turn end it with an error', async () => {
  const failing = await talk({
    events: async function* () {
      yield HI as never
      throw new Error('cannot parse')
    },
  })
  expect(await failing.say('x')).toMatchObject([
    HI,
    { type: 'error', message: 'The adapter failed: cannot parse' },
    { reason: 'error' },
  ])
  const ending = await talk({ events: () => of(HI) })
  expect(await ending.say('x')).toMatchObject([HI, { type: 'error' }, { type: 'turn-end', reason: 'error' }])
})

test('events that end with each turn are asked for again', async () => {
  const { say } = await talk({ events: () => of(HI, END) })
  expect(typesOf(await say('one'))).toEqual(['text-delta', 'turn-end'])
  expect(typesOf(await say('two'))).toEqual(['text-delta', 'turn-end'])
})

test('a second end is none, and what comes after an end is of no turn', async () => {
  const { say, sink } = await talk({ events: () => of(HI, END, END, { type: 'turn-end', reason: 'error' }) })
  await say('x')
  await new Promise(setImmediate)
  expect(typesOf(sink.signals).filter((type) => type === 'turn-end')).toHaveLength(1)
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
})

test('an error ends the turn, with the end that follows it or without one', async () => {
  const alone = await talk({ events: () => of({ type: 'error', message: 'overloaded' }, HI) })
  const signals = await alone.say('x')
  expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(signals.filter(({ type }) => type === 'error')).toHaveLength(1)
  const success = await talk({ events: () => of({ type: 'error', message: 'overloaded' }, END) })
  expect((await success.say('x')).at(-1)).toMatchObject({ reason: 'error' })
})

test('F7 an unknown reason is an error, never a success', async () => {
  const { say } = await talk({ events: () => of(HI, { type: 'turn-end', reason: 'fine' }) })
  expect((await say('x')).at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
})

test('what is no event is kept for what it is', async () => {
  const odd = [
    null,
    7,
    'text',
    [],
    {},
    { type: 'dance' },
    { type: 'text-delta' },
    { type: 'tool-call' },
    { type: 'agent-prompt' },
  ]
  const { say } = await talk({ events: () => of(...odd, HI, END) })
  expect(typesOf(await say('x'))).toEqual([...odd.map(() => 'extension'), 'text-delta', 'turn-end'])
})

test('an adapter does not say how its requests are answered', async () => {
  const claim = { type: 'config', config: { modeId: 'm' }, permissionMode: 'approve-all' }
  const { say } = await talk({ events: () => of(claim, HI, END) })
  expect((await say('x'))[0]).toEqual({ type: 'config', config: { modeId: 'm' } })
})

test('a cancel that never settles, or throws, ends the turn all the same', async () => {
  for (const cancel of [
    never,
    () => Promise.reject(new Error('no')),
    () => {
      throw new Error('no')
    },
  ]) {
    const { session, sink } = await talk({ events: () => hanging(), cancel })
    const sent = session.send([{ type: 'text', text: 'x' }])
    await sink.until(() => sink.text === 'hi')
    await session.cancel()
    await sent
    expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  }
})

test('a close that never settles, or throws, is not waited for', async () => {
  for (const close of [never, () => Promise.reject(new Error('no'))]) {
    const { connection } = await talk({ close })
    expect(await connection.close()).toEqual({})
  }
})

test('a request of an adapter that takes no answer is kept, and the user is not asked', async () => {
  const request = { kind: 'question', mode: 'form', message: 'Sure?' }
  const { say, sink } = await talk({ events: () => of({ type: 'agent-prompt', requestId: 'r1', request }, HI, END) })
  expect(typesOf(await say('x'))).toEqual(['extension', 'text-delta', 'turn-end'])
  expect(sink.asked).toEqual([])
})

test('an answer that the adapter cannot take harms nothing', async () => {
  const request = { kind: 'question', mode: 'form', message: 'Sure?' }
  const answers: unknown[] = []
  const { say, sink } = await talk({
    events: () => of({ type: 'agent-prompt', requestId: 'r1', request }, HI, END),
    answer: (id, answer) => {
      answers.push([id, answer])
      throw new Error('too late')
    },
  })
  sink.onAsk = async () => ({ outcome: 'accept', content: { sure: true } })
  await say('x')
  expect(answers).toHaveLength(1)
})

test('the end of an agent by itself is reported, with the turn that it ended', async () => {
  let end = (_: { exitCode: number }): void => {}
  const ended = new Promise<{ exitCode: number }>((resolve) => (end = resolve))
  const { connection, session, sink } = await talk({ ended, events: () => hanging() })
  const sent = session.send([{ type: 'text', text: 'x' }])
  await sink.until(() => sink.text === 'hi')
  end({ exitCode: 3 })
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(await connection.ended).toMatchObject({ exitCode: 3, duringTurn: true, cause: 'exit' })
})

test('an image goes to an adapter that is multimodal, and to no other', async () => {
  const image = { type: 'image' as const, data: '', mimeType: 'image/png' }
  const { session, sink } = await talk({})
  await session.send([image])
  expect(sink.signals).toMatchObject([
    { type: 'error', message: expect.stringContaining('no image') },
    { reason: 'error' },
  ])
  const given: unknown[] = []
  const able = await talk(
    { send: async (_, message) => void given.push(message) },
    { capabilities: { ...capabilities, multimodal: true } },
  )
  const prompt = [image, { type: 'audio' as const, data: '', mimeType: 'audio/wav' }]
  await able.session.send(prompt)
  expect(given).toEqual([prompt])
  expect(able.sink.signals).toEqual([HI, END])
})

async function* hanging() {
  yield HI as never
  await never()
}

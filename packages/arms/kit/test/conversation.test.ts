import { Conversation } from '@agentproto/arm-kit'
import { type AgentAnswer, AgentprotoError } from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'

interface Sink extends AgentSink {
  readonly batches: (readonly AgentSignal[])[]
  readonly asked: { readonly signal: AbortSignal; readonly answer: (answer: AgentAnswer) => void }[]
}

function sinkOf(take: () => void | Promise<void> = () => {}): Sink {
  const batches: Sink['batches'] = []
  const asked: Sink['asked'] = []
  return {
    batches,
    asked,
    emit(batch) {
      batches.push(batch)
      return take()
    },
    ask: (_, signal) => new Promise((answer) => asked.push({ signal, answer })),
  }
}

const END = { type: 'turn-end', reason: 'end_turn' }

test('what one read meant is one batch, in its order', () => {
  const sink = sinkOf()
  const talk = new Conversation(sink)
  talk.begin()
  talk.addText('thought', 'hm')
  talk.addText('text-delta', 'a', 'm1')
  talk.addNotice({ type: 'title', title: 'T' })
  void talk.flush()
  void talk.flush()
  expect(sink.batches).toEqual([
    [
      { type: 'thought', text: 'hm' },
      { type: 'text-delta', text: 'a', messageId: 'm1' },
      { type: 'title', title: 'T' },
    ],
  ])
})

test('outside of a turn nothing is said; an empty piece is nothing that was said', async () => {
  const sink = sinkOf()
  const talk = new Conversation(sink)
  expect([
    talk.addText('text-delta', 'x'),
    talk.addToolUpdate({ toolCallId: 't' }),
    talk.add({ type: 'error', message: 'x' }),
  ]).toEqual([false, false, false])
  const turn = talk.begin()
  talk.addText('text-delta', '')
  talk.finish(turn, { reason: 'end_turn' })
  await turn.done
  expect(sink.batches.flat()).toEqual([{ ...END, empty: true }])
})

test('F16 one turn at a time, ended once, by the first cause', async () => {
  const sink = sinkOf()
  const talk = new Conversation(sink)
  const turn = talk.begin()
  expect(() => talk.begin()).toThrow(expect.objectContaining({ code: 'turn_in_progress' }))
  talk.finish(turn, { reason: 'max_tokens' })
  talk.finish(turn, { reason: 'refusal' })
  // An agent that answers and leaves at once is none that crashed.
  expect(talk.close(new AgentprotoError('agent_exited', 'gone'), { by: 'failure', error: { message: 'gone' } })).toBe(
    false,
  )
  talk.end(turn, { by: 'host' })
  await turn.done
  expect(sink.batches.flat()).toEqual([{ type: 'turn-end', reason: 'max_tokens', empty: true }])
})

test('a turn is over once its host has taken its end', async () => {
  let taken = (): void => {}
  const sink = sinkOf(() => new Promise((resolve) => (taken = resolve)))
  const talk = new Conversation(sink)
  const turn = talk.begin()
  let over = false
  void turn.done.then(() => (over = true))
  talk.end(turn, { by: 'host' })
  await new Promise(setImmediate)
  expect(over).toBe(false)
  taken()
  await turn.done
})

test('a cancelled turn is cancelled, whatever its agent calls it', async () => {
  const sink = sinkOf()
  const talk = new Conversation(sink)
  const turn = talk.begin()
  expect(talk.beginCancel()).toBe(turn)
  expect(talk.beginCancel()).toBeUndefined()
  talk.finish(turn, { reason: 'error', error: { message: 'aborted' }, usage: { totalTokens: 1 } })
  await turn.done
  expect(sink.batches.flat()).toEqual([
    { type: 'turn-end', reason: 'cancelled', empty: true, usage: { totalTokens: 1 } },
  ])
  expect(talk.beginCancel()).toBeUndefined()
})

test('F17 after the end of its agent each turn fails at once; after a close it is refused', async () => {
  const sink = sinkOf()
  const talk = new Conversation(sink)
  talk.close(new AgentprotoError('agent_exited', 'gone'), { by: 'host' })
  await talk.begin().done
  expect(sink.batches.flat()).toEqual([
    { type: 'error', message: 'gone.' },
    { type: 'turn-end', reason: 'error', empty: true },
  ])
  const closed = new Conversation(sinkOf())
  closed.close(new AgentprotoError('session_ended', 'closed'), { by: 'host' })
  expect(() => closed.begin()).toThrow(expect.objectContaining({ code: 'session_ended' }))
})

test('a permission may be the first that is heard of its call, and what was said before comes before', () => {
  const sink = sinkOf()
  const talk = new Conversation(sink)
  talk.begin()
  talk.addText('text-delta', 'may I?')
  const options = [{ optionId: 'y', name: 'Yes', kind: 'allow_once' as const }]
  talk.ask('r1', { kind: 'permission', toolCall: { toolCallId: 't1', title: 'Write' }, options }, { reply: () => {} })
  expect(sink.batches.flat()).toEqual([
    { type: 'text-delta', text: 'may I?' },
    { type: 'tool-call', toolCallId: 't1', title: 'Write', status: 'pending' },
  ])
  expect(sink.asked).toHaveLength(1)
})

test('each request is answered once: by the user, by the end of the turn, or by its withdrawal', async () => {
  const replies: unknown[] = []
  const sink = sinkOf()
  const talk = new Conversation(sink)
  const turn = talk.begin()
  const request = { kind: 'question' as const, mode: 'form' as const, message: '?' }
  const reply = (id: string) => (answer: AgentAnswer) => void replies.push([id, answer.outcome])
  for (const id of ['a', 'b', 'c']) {
    talk.ask(id, request, { reply: reply(id), withdrawn: () => void replies.push([id, 'withdrawn']) })
  }
  sink.asked[0]?.answer({ outcome: 'accept' })
  await new Promise(setImmediate)
  talk.withdraw('b')
  talk.withdraw('b')
  talk.end(turn, { by: 'host' })
  for (const { answer } of sink.asked) answer({ outcome: 'decline' })
  await new Promise(setImmediate)
  expect(replies).toEqual([
    ['a', 'accept'],
    ['b', 'withdrawn'],
    ['c', 'cancelled'],
  ])
  expect(sink.asked.map(({ signal }) => signal.aborted)).toEqual([true, true, true])
})

test('no request is made outside of a turn, in a turn that is being cancelled, or when too many wait', () => {
  const talk = new Conversation(sinkOf())
  expect(talk.canAsk).toBe(false)
  talk.begin()
  const request = { kind: 'question' as const, mode: 'form' as const, message: '?' }
  for (let i = 0; i < 64; i++) talk.ask(i, request, { reply: () => {} })
  expect(talk.canAsk).toBe(false)
  const other = new Conversation(sinkOf())
  other.begin()
  expect(other.canAsk).toBe(true)
  other.beginCancel()
  expect(other.canAsk).toBe(false)
})

import { AgentprotoError, type SessionEvent } from '@agentproto/contracts'
import { DEFAULT_REGISTRY_CONFIG } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import type { AgentFacts, Input } from '../src/session/input.js'
import { reduce } from '../src/session/reduce.js'
import { type Effect, type SessionState, stateOf, type Step } from '../src/session/state.js'
import { NONE } from './fixtures/scripted-agent.js'
import { storedSession } from './fixtures/stored-session.js'

// The decisions of a session without its actor: no clock, no log, no agent.

const NOW = Date.parse('2026-11-21T12:00:00.000Z')
const ts = new Date(NOW).toISOString()

const facts: AgentFacts = {
  info: { capabilities: NONE },
  agentSessionId: 'a',
  warnings: [],
  startedAt: ts,
  isInstructed: false,
  knowsConversation: false,
  transcript: undefined,
}

/** Reduces inputs as the actor does: what is appended comes back as stored. Returns the effects of the last one. */
function play(inputs: readonly Input[], from: SessionState = stateOf(storedSession, DEFAULT_REGISTRY_CONFIG)): Step {
  let state = from
  let effects: Effect[] = []
  let seq = 0
  for (const input of inputs) {
    const queue = [...apply(input)]
    effects = []
    for (let effect = queue.shift(); effect !== undefined; effect = queue.shift()) {
      effects.push(effect)
      if (effect.do === 'append')
        queue.unshift(...apply({ type: 'stored', events: eventsOf(effect), agentSessionId: 'a' }))
      if (effect.do === 'next') queue.push(...apply({ type: 'next' }))
    }
  }
  return { state, effects }

  function apply(input: Input): readonly Effect[] {
    const step = reduce(state, input, NOW)
    state = step.state
    return step.effects
  }

  function eventsOf({ groups }: Effect & { readonly do: 'append' }): SessionEvent[] {
    return groups.flatMap(({ entries, turn }) =>
      entries.map((entry) => {
        seq += 1
        return { seq, ts, sessionId: 's_00000001', ...(turn === undefined ? {} : { turn }), ...entry }
      }),
    )
  }
}

const done = (effects: readonly Effect[]): string[] => effects.map((effect) => effect.do)
const logged = (effects: readonly Effect[]): string[] =>
  effects.flatMap((effect) =>
    effect.do === 'append' ? effect.groups.flatMap(({ entries }) => entries.map(({ type }) => type)) : [],
  )

const content = [{ type: 'text', text: 'go' }] as const
const start: Input = { type: 'start', call: 1, origin: { how: 'new' }, trace: undefined }
const running: readonly Input[] = [start, { type: 'agent-started', facts }, { type: 'agent-ready' }]
const prompt = (call: number, whenBusy?: 'queue' | 'interrupt'): Input => ({
  type: 'prompt',
  call,
  content,
  origin: 'prompt',
  whenBusy,
  trace: undefined,
})
const turnEnd: Input = { type: 'signals', batch: [{ type: 'turn-end', reason: 'end_turn' }] }
const settledSend: Input = { type: 'send-settled', turn: 1 }
const kill = (call: number, stopReason: 'user_canceled' | 'budget_exceeded'): Input => ({
  type: 'kill',
  call,
  ending: { status: 'killed', stopReason },
})
const stopped: Input = { type: 'agent-stopped', exit: {}, failure: undefined }

test('a start saves the record, logs its status, and only then starts the agent', () => {
  const { state, effects } = play([start])
  expect(done(effects).filter((name) => name !== 'changed')).toEqual(['save', 'append', 'start'])
  expect(state.run).toMatchObject({ phase: 'starting', call: 1 })
})

test('a prompt is logged before it is sent, and the caller gets the number of its turn', () => {
  const { state, effects } = play([...running, prompt(2)])
  expect(logged(effects)).toEqual(['user-prompt'])
  expect(done(effects).indexOf('append')).toBeLessThan(done(effects).indexOf('send'))
  expect(effects).toContainEqual({ do: 'reply', call: 2, value: 1 })
  expect(state.turn).toMatchObject({ phase: 'open', number: 1 })
})

test('a prompt whose write failed leaves no trace in the state', () => {
  const before = play(running).state
  const { state: admitted } = reduce(before, prompt(2), NOW)
  const error = new AgentprotoError('storage_failed', 'No room')
  const { state, effects } = reduce(admitted, { type: 'write-failed', input: prompt(2), error }, NOW)
  expect(state).toEqual(before)
  expect(effects).toContainEqual({ do: 'reject', call: 2, error })
})

test('a prompt that interrupts a turn, whose write failed, leaves that turn to the end of the session', () => {
  const asking: readonly Input[] = [
    ...running,
    prompt(2),
    { type: 'asked', call: 3, requestId: 'r_1', request: { kind: 'question', message: '?', mode: 'form' } },
    { type: 'judged', requestId: 'r_1', verdict: { said: undefined, isForPerson: false } },
  ]
  const interrupting = reduce(play(asking).state, prompt(4, 'interrupt'), NOW)
  expect(logged(interrupting.effects)).toEqual(['agent-prompt-resolved'])
  const failed: Input = { type: 'write-failed', input: prompt(4, 'interrupt'), error: new Error('No room') }
  expect(reduce(interrupting.state, failed, NOW).state).toMatchObject({
    run: { phase: 'stopping' },
    turn: { phase: 'open', number: 1 },
  })
})

test('output within a turn is one append, and changes nothing but the activity of the turn', () => {
  const { state } = play([...running, prompt(2)])
  const batch = [1, 2, 3].map((n) => ({ type: 'text-delta' as const, text: `${n}` }))
  const { state: after, effects } = reduce(state, { type: 'signals', batch }, NOW)
  expect(after).toBe(state)
  expect(effects).toEqual([{ do: 'append', groups: [{ entries: batch, turn: 1 }] }])
})

test('a queued prompt begins when the agent is done with the one before, not when its turn has ended', () => {
  const busy = [...running, prompt(2), prompt(3, 'queue'), turnEnd]
  expect(play(busy).state).toMatchObject({ turn: { phase: 'idle' }, queue: [{}], isSending: true })
  const { state, effects } = play([...busy, settledSend])
  expect(logged(effects)).toEqual(['user-prompt'])
  expect(state).toMatchObject({ turn: { phase: 'open', number: 2 }, queue: [] })
})

test('a grace that is over when its turn has ended meanwhile ends nothing', () => {
  const late: Input = { type: 'timer', timer: 'grace', liveChildren: 0 }
  const ended = [...running, prompt(2), { type: 'interrupt', call: 3 } as const, turnEnd, settledSend]
  expect(play([...ended, late]).state).toMatchObject({ run: { phase: 'running' }, turn: { phase: 'idle' } })
  const { state } = play([...ended, prompt(4), late])
  expect(state).toMatchObject({ run: { phase: 'running' }, turn: { phase: 'open', number: 2 } })
})

test('the first cause of an end wins, every caller is answered, and one write holds the whole end', () => {
  const ending = [...running, prompt(2), prompt(3, 'queue'), kill(4, 'user_canceled'), kill(5, 'budget_exceeded')]
  expect(play(ending).state.run).toMatchObject({ phase: 'stopping', cause: { stopReason: 'user_canceled' } })
  const { state, effects } = play([...ending, stopped])
  expect(effects.filter((effect) => effect.do === 'append')).toHaveLength(1)
  expect(logged(effects)).toEqual(['turn-end', 'user-prompt', 'turn-end', 'status', 'session-stopped'])
  for (const call of [4, 5]) expect(effects).toContainEqual({ do: 'reply', call, value: { ok: true } })
  expect(state).toMatchObject({ run: { phase: 'ended' }, session: { status: 'killed', stopReason: 'user_canceled' } })
})

test('a kill during the start aborts it, and the session ends as an error with the reason of the kill', () => {
  const killed = play([start, kill(2, 'user_canceled')])
  expect(done(killed.effects)).toEqual(['abort-start'])
  const error = new AgentprotoError('cancelled', 'Aborted')
  const { state, effects } = play([start, kill(2, 'user_canceled'), { type: 'start-failed', error }, stopped])
  expect(state.session).toMatchObject({ status: 'error', stopReason: 'user_canceled' })
  expect(effects).toContainEqual({ do: 'reject', call: 1, error })
  expect(effects).toContainEqual({ do: 'reply', call: 2, value: { ok: true } })
})

test('the end of a former agent does not stop a start that has no agent yet', () => {
  const { state } = play([start])
  const end = { duringTurn: false, cause: 'exit', message: 'x', stderrTail: '' } as const
  expect(reduce(state, { type: 'agent-ended', end }, NOW)).toEqual({ state, effects: [] })
})

test('a write that failed ends the session, and nothing more of its agent is logged', () => {
  const { state } = play([...running, prompt(2)])
  const failed = reduce(state, { type: 'write-failed', input: turnEnd, error: new Error('No room') }, NOW)
  expect(done(failed.effects)).toContain('stop')
  expect(reduce(failed.state, turnEnd, NOW).effects).toEqual([])
})

test('no input in any phase throws, but for a command that is refused', () => {
  const phases = [[], [start], running, [...running, prompt(2)], [...running, prompt(2), kill(3, 'user_canceled')]]
  const inputs: readonly Input[] = [
    ...running,
    { type: 'resume', call: 9, request: {}, workspaceSlug: 'default', trace: undefined },
    prompt(9, 'interrupt'),
    { type: 'interrupt', call: 9 },
    kill(9, 'user_canceled'),
    { type: 'answer', call: 9, requestId: 'r_1', answer: { outcome: 'cancelled' }, by: { type: 'timeout' } },
    { type: 'set-permission-mode', call: 9, mode: 'deny-all', by: { type: 'timeout' } },
    turnEnd,
    settledSend,
    { type: 'withdrawn', requestId: 'r_1' },
    { type: 'start-failed', error: new Error('x') },
    { type: 'agent-ended', end: { duringTurn: false, cause: 'exit', message: 'x', stderrTail: '' } },
    stopped,
    { type: 'stop-failed', error: new Error('x') },
    { type: 'next' },
    { type: 'timer', timer: 'watch', liveChildren: 0 },
    { type: 'timer', timer: 'grace', liveChildren: 0 },
    { type: 'timer', timer: 'request r_1', liveChildren: 0 },
    { type: 'policy-answer', requestId: 'r_1', said: { answer: { outcome: 'cancelled' }, rule: 'x' } },
  ]
  for (const phase of phases) for (const input of inputs) expect(() => play([...phase, input])).not.toThrow()
})

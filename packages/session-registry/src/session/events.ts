import type { SessionEvent } from '@agentproto/contracts'
import { sentTurns } from '../lifecycle/resume.js'
import { describe } from './descriptor.js'
import { andThen, type Effect, step, type Step } from './effect.js'
import { contextAfter } from './prompt-context.js'
import { dropAsks, interruptRequests, requestsAfter } from './requests.js'
import { end, runOver } from './run.js'
import { IDLE, NO_FAILURES, type OpenTurn, openTurn, type SessionState } from './state.js'
import { isSignOfLife, watchIdle, watchSession, watchTurn } from './supervision.js'
import { send } from './turn.js'

/** What events that took effect make of a session. Replaying a log is this, without the effects. */
export function applyEvents(state: SessionState, events: readonly SessionEvent[], now: number): Step {
  let after = state
  const effects: Effect[] = [{ do: 'changed', isUrgent: events.some(changesState) }]
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index] as SessionEvent
    // Of a run of text only the first and the last piece say anything new about the session.
    if (index > 0 && TEXT.has(event.type) && events[index + 1]?.type === event.type) continue
    const applied = applyEvent(after, event, now)
    after = applied.state
    effects.push(...applied.effects)
  }
  return { state: after, effects }
}

const TEXT: ReadonlySet<SessionEvent['type']> = new Set(['text-delta', 'thought'])

/** Applies an event of a host that is gone, which sent what it logged, as far as anyone knows. */
export function replayEvent(state: SessionState, event: SessionEvent): SessionState {
  const { state: after } = applyEvent(state, event, Date.parse(event.ts))
  const isSent = event.type === 'user-prompt' ? event.sent !== false : after.context.isSent
  return { ...after, run: state.run, context: { ...after.context, isSent } }
}

/** Whether an event changes the state of a session, and not only its activity. */
export const changesState = ({ type }: SessionEvent): boolean => CHANGES_STATE.has(type)

const CHANGES_STATE: ReadonlySet<SessionEvent['type']> = new Set([
  'status',
  'session-stopped',
  'user-prompt',
  'turn-end',
  'title',
  'config',
])

function applyEvent(state: SessionState, event: SessionEvent, now: number): Step {
  const { watch } = state
  const seen = isSignOfLife(event) ? { ...watch, activeAt: now, isSilent: false } : watch
  const described = { ...state, session: describe(state, event), watch: seen }
  switch (event.type) {
    case 'user-prompt':
      return turnBegan(described, event, now)
    case 'turn-end':
      return turnEnded(described, event, now)
    case 'text-delta':
    case 'thought':
    case 'tool-call':
    case 'tool-result':
      return step(withOutput(described, event))
    case 'agent-prompt':
    case 'agent-prompt-resolved':
      return requestsAfter(described, event)
    case 'runtime-warning':
      return step({ ...described, watch: { ...watch, isSilent: event.idleMs !== undefined } })
    case 'status':
      if (event.status !== 'running') return step(described)
      return watchSession({ ...described, run: { phase: 'running' }, resumes: NO_FAILURES }, now)
    case 'session-stopped':
      return runOver(interruptRequests({ ...described, turn: IDLE }, event.ts))
    default:
      return step(described)
  }
}

function turnBegan(state: SessionState, event: SessionEvent & { readonly type: 'user-prompt' }, now: number): Step {
  const turn: OpenTurn = {
    phase: 'open',
    number: state.session.turnCount,
    unsent: state.turn.phase === 'admitted' ? state.turn.prompt : undefined,
    openTools: [],
    hasOutput: false,
    interrupters: [],
  }
  const queue = event.origin === 'queue' ? state.queue.slice(1) : state.queue
  const began = { ...state, ...contextAfter(state, event), turn, queue }
  return andThen(watchTurn(began, now), send)
}

function turnEnded(state: SessionState, event: SessionEvent & { readonly type: 'turn-end' }, now: number): Step {
  const { interrupters = [] } = openTurn(state) ?? {}
  const ended: SessionState = { ...state, ...contextAfter(state, event), turn: IDLE }
  const over = andThen(ended.asks.length > 0 ? dropAsks(ended) : step(ended), (after) => watchIdle(after, now))
  const effects: Effect[] = [...over.effects, { do: 'disarm', timer: 'grace' }]
  for (const call of interrupters) effects.push({ do: 'reply', call, value: { wasBusy: true } })
  if (ended.queue.length > 0) effects.push({ do: 'next' })
  const { session, spawn } = over.state
  if (sentTurns(session) < (spawn.policy?.maxTurns ?? Infinity)) return { state: over.state, effects }
  // The last turn is complete before the session ends.
  const exhausted = { ...over.state, session: { ...session, resumable: false } }
  return andThen({ state: exhausted, effects }, (after) =>
    end(after, { status: 'killed', stopReason: 'max_iterations' }),
  )
}

function withOutput(state: SessionState, event: SessionEvent): SessionState {
  const turn = openTurn(state)
  if (turn === undefined || event.turn !== turn.number) return state
  if (event.type === 'tool-call') {
    const openTools = turn.openTools.includes(event.toolCallId) ? turn.openTools : [...turn.openTools, event.toolCallId]
    return { ...state, turn: { ...turn, openTools, hasOutput: true } }
  }
  if (event.type === 'tool-result') {
    const openTools = turn.openTools.filter((id) => id !== event.toolCallId)
    return { ...state, turn: { ...turn, openTools, hasOutput: true } }
  }
  return turn.hasOutput ? state : { ...state, turn: { ...turn, hasOutput: true } }
}

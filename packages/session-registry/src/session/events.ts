import type { SessionEvent } from '@agentproto/contracts'
import { sentTurns } from '../lifecycle/resume.js'
import { describe } from './descriptor.js'
import { andThen, type Effect, step, type Step } from './effect.js'
import { contextAfter } from './prompt-context.js'
import { dropAsks, interruptRequests, requestsAfter } from './requests.js'
import { end, runOver } from './run.js'
import { IDLE, NO_FAILURES, type OpenTurn, openTurn, type SessionState } from './state.js'
import { isSignOfLife, watchIdle, watchTurn } from './supervision.js'
import { send } from './turn.js'

/** What events that took effect make of a session. Replaying a log is this, without the effects. */
export function applyEvents(state: SessionState, events: readonly SessionEvent[], now: number): Step {
  const isUrgent = events.some(changesState)
  let result = step(state, { do: 'changed', isUrgent })
  for (let index = 0; index < events.length; index += 1) {
    const event = events[index] as SessionEvent
    // Of a run of text only the last piece says anything new about the session.
    if (isText(event) && isText(events[index + 1]) && openTurn(result.state)?.hasOutput === true) continue
    result = andThen(result, (after) => applyEvent(after, event, now))
  }
  return result
}

/** Applies an event of a host that is gone, which sent what it logged, as far as anyone knows. */
export function replayEvent(state: SessionState, event: SessionEvent): SessionState {
  const { state: after } = applyEvent(state, event, Date.parse(event.ts))
  const isSent = event.type === 'user-prompt' ? event.sent !== false : after.context.isSent
  return { ...after, run: state.run, context: { ...after.context, isSent } }
}

const isText = (event: SessionEvent | undefined): boolean => event?.type === 'text-delta' || event?.type === 'thought'

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
  const described = { ...state, session: describe(state, event), watch: watchAfter(state, event, now) }
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
    case 'status':
      return event.status === 'running'
        ? watchIdle({ ...described, run: { phase: 'running' }, resumes: NO_FAILURES }, now)
        : step(described)
    case 'session-stopped':
      return runOver(interruptRequests({ ...described, turn: IDLE }, event.ts))
    default:
      return step(described)
  }
}

function watchAfter({ watch }: SessionState, event: SessionEvent, now: number): SessionState['watch'] {
  if (event.type === 'runtime-warning') return { ...watch, isSilent: event.idleMs !== undefined }
  return isSignOfLife(event) ? { ...watch, activeAt: now, isSilent: false } : watch
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
  const turn = openTurn(state)
  const ended = { ...state, ...contextAfter(state, event), turn: IDLE }
  const replies = (turn?.interrupters ?? []).map((call): Effect => ({ do: 'reply', call, value: { wasBusy: true } }))
  const watched = andThen(dropAsks(ended), (after) => watchIdle(after, now))
  const over = andThen(watched, (after) =>
    step(after, { do: 'disarm', timer: 'grace' }, ...replies, ...(after.queue.length > 0 ? [NEXT] : [])),
  )
  return andThen(over, endWhenExhausted)
}

const NEXT: Effect = { do: 'next' }

/** The last turn is complete before the session ends. */
function endWhenExhausted(state: SessionState): Step {
  const { session, spawn } = state
  if (sentTurns(session) < (spawn.policy?.maxTurns ?? Infinity)) return step(state)
  return end(
    { ...state, session: { ...session, resumable: false } },
    { status: 'killed', stopReason: 'max_iterations' },
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

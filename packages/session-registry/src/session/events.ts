import { defined, type Session, type SessionEvent, type SessionTurn } from '@agentproto/contracts'
import { sentTurns } from '../lifecycle/resume.js'
import { contextAfter, withRewind } from './prompt-context.js'
import { limitForPrompt, noRecording, record, withTotals } from './recording.js'
import { dropAsks, interruptRequests, requestOpened, requestResolved } from './requests.js'
import { end, endLog, runOver } from './run.js'
import {
  andThen,
  type Effect,
  IDLE,
  mayHaveBudget,
  openTurn,
  type OpenTurn,
  type SessionState,
  step,
  type Step,
} from './state.js'
import { isSignOfLife, progressed, warned, watch, watchSession } from './supervision.js'
import { send } from './turn.js'
import { refuseCost } from '../usage/budget.js'
import { NO_CALLS } from '../usage/call-history.js'
import { callEnded, callSeen } from '../usage/loops.js'
import { isMetered, measure } from '../usage/meter.js'

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
  'checkpoint',
  'checkpoint-skipped',
  'rewound',
])

function applyEvent(state: SessionState, event: SessionEvent, now: number): Step {
  if (!isMetered(state.meter, event.type)) return applyCounted(state, event, now)
  const { meter, spent, counted, refused } = measure(state.meter, event)
  const effects: Effect[] = []
  if (spent !== undefined && mayHaveBudget(state)) effects.push({ do: 'spend', spent })
  if (counted !== undefined) effects.push({ do: 'count', counted })
  const measured: Step = { state: { ...state, meter }, effects }
  const checked = refused === undefined ? measured : andThen(measured, (after) => refuseCost(after, refused))
  return andThen(checked, (after) => applyCounted(after, event, now))
}

function applyCounted(state: SessionState, event: SessionEvent, now: number): Step {
  const seen = isSignOfLife(event) ? { ...state.watch, activeAt: now, isSilent: false } : state.watch
  const described = { ...state, session: describe(state, event), watch: seen }
  switch (event.type) {
    case 'user-prompt':
      return turnBegan({ ...described, queue: queueAfter(state, event) }, event, now)
    case 'turn-end':
      return turnEnded(described, event, now)
    case 'text-delta':
    case 'thought':
      return step(withOutput(described, event))
    case 'tool-call':
      return step(callSeen(withOutput(described, event), event))
    case 'tool-result':
      return callEnded(withOutput(described, event), event)
    case 'agent-prompt':
      return requestOpened(described, event)
    case 'agent-prompt-resolved':
      return requestResolved(described, event)
    case 'runtime-warning':
      return step({ ...described, watch: event.idleMs === undefined ? seen : warned(seen) })
    case 'runtime-progress':
      return step({ ...described, watch: progressed(seen, now) })
    case 'checkpoint':
    case 'checkpoint-skipped':
      return recordingLogged(described)
    case 'rewound':
      return step(withRewind(described, event))
    case 'status':
      if (event.status === 'starting') return record(described, 0)
      if (event.status !== 'running') return step(described)
      return watchSession({ ...described, run: { phase: 'running' }, resumeAt: 0 }, now)
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
  const context = { ...state.context, offered: event.preface?.map(({ kind }) => kind) ?? [], isSent: false }
  const began = andThen(watch({ ...state, context, turn, calls: NO_CALLS }, now), send)
  return state.recording.phase === 'running' ? andThen(began, (after) => limitForPrompt(after, now)) : began
}

/** A record that is read again may be behind its turn. */
const queueAfter = (
  { queue, session }: SessionState,
  { origin, turn = Infinity }: SessionEvent & { readonly type: 'user-prompt' },
): SessionState['queue'] => (origin === 'queue' && turn > session.turnCount ? queue.slice(1) : queue)

function turnEnded(state: SessionState, event: SessionEvent & { readonly type: 'turn-end' }, now: number): Step {
  const turn = openTurn(state)
  const received = state.context.offered.length > 0 ? contextAfter(state, event) : {}
  const ended: SessionState = { ...state, ...received, turn: IDLE }
  const dropped = ended.asks.length > 0 ? dropAsks(ended) : step(ended)
  const watched = andThen(dropped, (after) => watch(after, now))
  const isRecorded = state.context.isSent && state.recording.phase !== 'off'
  const over = isRecorded ? andThen(watched, (after) => record(after, event.turn ?? 0)) : watched
  const effects: Effect[] = [...over.effects]
  // Only a cancelled turn has interrupters.
  if (turn?.cancelled !== undefined) {
    effects.push({ do: 'disarm', timer: 'grace' })
    effects.push(...turn.interrupters.map((call): Effect => ({ do: 'reply', call, value: { wasBusy: true } })))
  }
  if (ended.queue.length > 0) effects.push({ do: 'next' })
  const { session, spawn } = over.state
  const { maxTurns } = spawn.policy ?? {}
  if (maxTurns === undefined || sentTurns(session) < maxTurns) return { state: over.state, effects }
  // The last turn is complete before the session ends.
  const exhausted = { ...over.state, session: { ...session, resumable: false } }
  return andThen({ state: exhausted, effects }, (after) =>
    end(after, { status: 'killed', stopReason: 'max_iterations' }),
  )
}

/** The folder was recorded, or not: what waited for it goes on. */
function recordingLogged(state: SessionState): Step {
  const { run } = state
  const idle = noRecording(state)
  if (run.phase === 'ended' || idle === state) return step(idle)
  const isOver = run.phase === 'stopping' && run.exited !== undefined
  return andThen(step(idle, { do: 'disarm', timer: 'recording' }), isOver ? endLog : send)
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

/** What each event of the log says of its session: the descriptor is a projection of them. */
function describe(state: SessionState, event: SessionEvent): Session {
  const { session } = state
  switch (event.type) {
    case 'text-delta':
    case 'thought':
    case 'error':
    case 'output':
    case 'agent-prompt':
    case 'plan':
    case 'notice':
      return active(session, event)
    case 'tool-call': {
      const { currentTool: known } = session.turn
      return active(session, event, { currentTool: event.toolName ?? event.title ?? known ?? event.toolCallId })
    }
    case 'tool-result': {
      const { currentTool: _, ...turn } = session.turn
      return active({ ...session, turn }, event)
    }
    case 'user-prompt':
      return turnBusy(session, event)
    case 'turn-end':
      return active({ ...session, turn: { number: session.turn.number, state: 'idle' } }, event)
    case 'title':
      return { ...session, title: state.spawn.title ?? event.title.slice(0, MAX_TITLE) }
    case 'config':
      // An event of the permission mode is the host's own, and says nothing about the agent.
      return 'permissionMode' in event
        ? { ...session, permissionMode: event.permissionMode }
        : { ...session, config: { ...session.config, ...event.config } }
    case 'status':
      return withStatus(session, event.status)
    case 'session-stopped':
      return stopped(session, event)
    case 'checkpoint':
    case 'rewound':
      return withTotals(session, event)
    case 'agent-prompt-resolved':
    case 'checkpoint-skipped':
    case 'usage':
    case 'extension':
    case 'runtime-progress':
    case 'runtime-warning':
    case 'repair':
      return session
    default:
      return event satisfies never
  }
}

const MAX_TITLE = 80

function active(session: Session, event: SessionEvent, turn: Partial<SessionTurn> = {}): Session {
  return {
    ...session,
    lastOutputAt: event.ts,
    lastActiveAt: event.ts,
    turn: { ...session.turn, ...turn, lastActivityAt: event.ts, lastActivityKind: event.type },
  }
}

function turnBusy(session: Session, event: SessionEvent & { readonly type: 'user-prompt' }): Session {
  const number = event.turn ?? session.turnCount + 1
  const text = event.content.find((block) => block.type === 'text')?.text
  const title = session.title ?? (text === undefined ? undefined : titleOf(text))
  return {
    ...session,
    turnCount: number,
    ...(event.sent === false ? { unsentTurns: (session.unsentTurns ?? 0) + 1 } : {}),
    lastActiveAt: event.ts,
    turn: { number, state: 'busy', startedAt: event.ts, lastActivityAt: event.ts, lastActivityKind: event.type },
    ...(title === undefined ? {} : { title }),
  }
}

function withStatus(session: Session, status: Session['status']): Session {
  if (status === 'starting') return restarted(session)
  if (status !== 'running') return { ...session, status }
  const { failedResumes: _, ...started } = session
  return { ...started, status }
}

/** A resume: what the last end said is no longer true. */
export function restarted(session: Session): Session {
  const {
    endedAt: _e,
    stopReason: _s,
    failure: _f,
    exitCode: _c,
    signal: _g,
    killedAt: _k,
    kept: _p,
    ...rest
  } = session
  return { ...rest, status: 'starting' }
}

function stopped(session: Session, event: SessionEvent & { readonly type: 'session-stopped' }): Session {
  const { stopReason, failure, exitCode, signal } = event
  const { kept: _, ...left } = session
  return {
    ...left,
    endedAt: event.ts,
    stopReason,
    connection: 'disconnected',
    ...defined({ failure, exitCode, signal }),
    turn: { number: session.turn.number, state: 'idle' },
  }
}

/** The first line of the first prompt, cut at a word. */
function titleOf(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  if (line.length <= MAX_TITLE) return line
  const cut = line.slice(0, MAX_TITLE - 1)
  const space = cut.lastIndexOf(' ')
  return `${cut.slice(0, space > MAX_TITLE / 2 ? space : cut.length)}…`
}

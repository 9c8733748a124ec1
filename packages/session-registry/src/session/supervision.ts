import type { SessionEvent } from '@agentproto/contracts'
import { failureOf } from '../lifecycle/ending.js'
import { endOfTime, remembers } from '../lifecycle/resume.js'
import type { LogEntry } from '../log/event-record.js'
import { end } from './run.js'
import {
  andThen,
  openTurn,
  pendingRequests,
  type SessionState,
  step,
  type Step,
  type Watch,
  type WatchedTurn,
} from './state.js'
import { cancelSilent } from './turn.js'
import { budgetDue, checkBudgets } from '../usage/budget.js'

/**
 * Progress and warnings of a long turn, the end of a silent one, hibernation of an idle session, and the end of one whose
 * time is up. One timer is armed for the first moment at which something can be due, so that activity costs one assignment.
 */

/** The session runs from now on. */
export const watchSession = (state: SessionState, now: number): Step =>
  watch({ ...state, watch: { ...state.watch, ...limitsOf(state), dueAt: Infinity } }, now)

/** How long an adopted agent has at least to show what it did meanwhile, in milliseconds. */
const ADOPTION_MS = 60_000

/** It runs again, in another host: silence and idleness count from what the log says. */
export function watchAdopted(state: SessionState, now: number): Step {
  const { watch: before, session } = state
  const activeAt = Math.max(before.activeAt, Date.parse(session.lastActiveAt))
  const at = now + ADOPTION_MS
  const after = { ...before, ...limitsOf(state), activeAt, dueAt: at }
  return step({ ...state, watch: after }, { do: 'arm', timer: 'watch', at })
}

/** An adopted agent has shown what it did meanwhile. */
export const watchAgain = (state: SessionState, now: number): Step => arm(state, now)

/** Until when the session runs, and how long it may be idle. */
function limitsOf({ spawn, session, config }: SessionState): Pick<SessionState['watch'], 'idleMs' | 'endsAt'> {
  // A session whose agent does not remember only hibernates when its manifest states the time itself.
  const hibernates = session.resumable && session.agent !== undefined && remembers(session.agent.capabilities, spawn)
  const idleMs = spawn.policy?.idleTimeoutMs ?? (hibernates ? config.idleMs : Infinity)
  return { idleMs, endsAt: endOfTime(session, config.maxDurationMs) }
}

/** The log has a warning of silence. */
export const warned = (before: Watch): Watch => ({
  ...before,
  isSilent: true,
  ...(before.turn === undefined ? {} : { turn: { ...before.turn, isWarned: true } }),
})

/** The log has a report of progress. */
export const progressed = (before: Watch, now: number): Watch =>
  before.turn === undefined ? before : { ...before, turn: { ...before.turn, progressAt: now } }

/** A turn has begun, or the session is idle from now on. */
export function watch(state: SessionState, now: number): Step {
  const turn: WatchedTurn | undefined =
    state.turn.phase === 'open'
      ? { startedAt: now, heartbeatAt: now, progressAt: now, isWarned: false, isCancelled: false }
      : undefined
  return arm({ ...state, watch: { ...state.watch, activeAt: now, turn } }, now)
}

/** Something may be due; what is due is done, and the timer is armed again. */
export function look(
  before: SessionState,
  { now, liveChildren }: { readonly now: number; readonly liveChildren: number },
): Step {
  const state: SessionState = { ...before, watch: { ...before.watch, dueAt: Infinity } }
  if (state.run.phase !== 'running') return step(state)
  const { turn, activeAt, idleMs, endsAt } = state.watch
  if (now >= endsAt) return expire(state)
  if (turn !== undefined) return andThen(checkBudgets(state, now), (after) => lookOn(after, now))
  if (now - activeAt < idleMs) return arm(state, now)
  // Children end with their parent, so a parent that waits for its children is not idle.
  return liveChildren > 0 ? watch(state, now) : end(state, { status: 'killed', stopReason: 'idle' })
}

function lookOn(state: SessionState, now: number): Step {
  return state.run.phase === 'running' ? andThen(lookAtTurn(state, now), (after) => arm(after, now)) : step(state)
}

/**
 * Whether events are of the agent. What the host does by itself is no sign of life, nor is what a program writes that is
 * no protocol: one that tries its provider again and again may do so for ever.
 */
export const isSignOfLife = (event: SessionEvent): boolean =>
  !LIFELESS.has(event.type) && !(event.type === 'config' && 'permissionMode' in event)

const LIFELESS: ReadonlySet<SessionEvent['type']> = new Set([
  'output',
  'runtime-progress',
  'runtime-warning',
  'checkpoint',
  'checkpoint-skipped',
  'rewound',
  'repair',
  'status',
  'session-stopped',
])

function lookAtTurn(state: SessionState, now: number): Step {
  // The time of a person is not the agent's.
  const isWaiting = pendingRequests(state).length > 0
  const seen = isWaiting ? { ...state, watch: { ...state.watch, activeAt: now } } : state
  return [heartbeat, reportProgress, warnOfSilence, cancelWhenSilent].reduce(
    (done, check) => andThen(done, (after) => check(after, now)),
    step(seen),
  )
}

function heartbeat(state: SessionState, now: number): Step {
  if (now - (state.watch.turn?.heartbeatAt ?? now) < state.config.heartbeatMs) return step(state)
  return step(withWatched(state, { heartbeatAt: now }), { do: 'changed', isUrgent: false })
}

function reportProgress(state: SessionState, now: number): Step {
  const { activeAt, turn } = state.watch
  if (turn === undefined || now - turn.progressAt < state.config.progressMs) return step(state)
  const { currentTool } = state.session.turn
  return log(withWatched(state, { progressAt: now }), {
    type: 'runtime-progress',
    elapsedMs: now - turn.startedAt,
    idleMs: now - activeAt,
    ...(currentTool === undefined ? {} : { currentTool }),
  })
}

function warnOfSilence(state: SessionState, now: number): Step {
  const { activeAt, turn } = state.watch
  const idleMs = now - activeAt
  if (turn?.isWarned !== false || idleMs < state.config.warningMs) return step(state)
  const message = `The agent has been silent for ${inWords(idleMs)}`
  return log(withWatched(state, { isWarned: true }), { type: 'runtime-warning', message, idleMs })
}

function cancelWhenSilent(state: SessionState, now: number): Step {
  const { activeAt, turn } = state.watch
  if (turn?.isCancelled !== false || now - activeAt < silenceMs(state)) return step(state)
  return cancelSilent(withWatched(state, { isCancelled: true }), now)
}

const log = (state: SessionState, entry: LogEntry): Step =>
  step(state, { do: 'append', groups: [{ entries: [entry], turn: openTurn(state)?.number }] })

function withWatched(state: SessionState, change: Partial<WatchedTurn>): SessionState {
  const { turn } = state.watch
  return turn === undefined ? state : { ...state, watch: { ...state.watch, turn: { ...turn, ...change } } }
}

function expire({ session, ...rest }: SessionState): Step {
  const over: SessionState = { ...rest, session: { ...session, resumable: false } }
  if (session.expiresAt !== undefined) return end(over, { status: 'killed', stopReason: 'expired' })
  const failure = failureOf('timeout', 'The session reached its time limit')
  return end(over, { status: 'killed', stopReason: 'timeout', failure })
}

/** A timer that fires earlier than it has to stays: whatever it then looks at arms it again. */
function arm(state: SessionState, now: number): Step {
  if (state.run.phase !== 'running') return step(state)
  const { turn, endsAt, activeAt, idleMs, dueAt } = state.watch
  const due = Math.min(endsAt, turn === undefined ? activeAt + idleMs : dueInTurn(state, turn, now))
  if (due >= dueAt) return step(state)
  const at = Math.max(now + 1, due)
  return step({ ...state, watch: { ...state.watch, dueAt: at } }, { do: 'arm', timer: 'watch', at })
}

function dueInTurn(state: SessionState, turn: WatchedTurn, now: number): number {
  const { heartbeatMs, progressMs, warningMs, inactivityMs, toolBudgetMs } = state.config
  const { activeAt } = state.watch
  // A tool may start or end without the timer being armed again, so it looks at the earlier of the two limits first.
  const soonest = activeAt + Math.min(inactivityMs, toolBudgetMs)
  const silentAt = soonest > now ? soonest : activeAt + silenceMs(state)
  return Math.min(
    turn.heartbeatAt + heartbeatMs,
    turn.progressAt + progressMs,
    turn.isWarned ? Infinity : activeAt + warningMs,
    turn.isCancelled ? Infinity : silentAt,
    state.standings.length === 0 ? Infinity : budgetDue(state, now),
  )
}

/** A running tool may be silent for longer. */
const silenceMs = (state: SessionState): number =>
  (openTurn(state)?.openTools.length ?? 0) > 0 ? state.config.toolBudgetMs : state.config.inactivityMs

const inWords = (ms: number): string =>
  ms < 120_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} minutes`

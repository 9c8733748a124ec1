import { AgentprotoError, defined, isDecision, isLive, type Session, summaryOf } from '@agentproto/contracts'
import {
  type Ending,
  endedError,
  endingOf,
  endingOfStart,
  messageOf,
  startingError,
  turnEndOf,
} from '../lifecycle/ending.js'
import { assertTransition } from './lifecycle.js'
import { endOfTime, isResumable, resumptionOf } from '../lifecycle/resume.js'
import { assertResumeDue, withFailedResume } from '../lifecycle/resume-backoff.js'
import type { EntryGroup } from '../log/event-log.js'
import type { LogEntry } from '../log/event-record.js'
import { closing, stopQueue, unsentTurns } from './closing.js'
import type { AgentFacts, InputOf } from './input.js'
import { contextOfStart } from './prompt-context.js'
import { limitForEnd, noRecording, willRecord } from './recording.js'
import { dropAsks } from './requests.js'
import { endOfRun, missingEnds } from './run-end.js'
import { interruptedAt } from '../usage/meter.js'
import { assertBudget, withBudget } from '../usage/resumed-budget.js'
import {
  andThen,
  type Call,
  type Effect,
  openTurn,
  type SessionState,
  type StartEffect,
  type StartingRun,
  step,
  type Step,
  type StoppingRun,
  URGENT,
  withWarning,
} from './state.js'

/** The run of an agent: its start, and the one way out, on which the first cause wins. */

export const start = (state: SessionState, { call, origin, trace }: InputOf<'start'>): Step =>
  launch(state, { do: 'start', origin, trace }, call)

/**
 * Starts the agent of an ended session, in its old conversation or in a new one.
 * @throws `session_live`, `session_starting`, `session_ended`, `not_resumable`, `continuation_unsupported`,
 *   `budget_exceeded`
 */
export function resume(
  before: SessionState,
  { call, request, workspaceSlug, trace }: InputOf<'resume'>,
  now: number,
): Step {
  // The workspace of now: its name may be another folder's since the last start.
  const moved = { ...before, session: { ...before.session, workspaceSlug } }
  const state = withBudget(moved, request.budget)
  if (state.run.phase === 'starting') throw startingError()
  // It may have been killed since the prompt came.
  if (request.isByPrompt === true && !isLive(state.session) && !summaryOf(state.session).wakeable)
    throw endedError(state.session)
  const until = endOfTime(state.session, state.config.maxDurationMs)
  if (!isLive(state.session) && until <= now)
    throw new AgentprotoError('not_resumable', 'The session has reached the end of its time and cannot be resumed', {
      given: `it ended at ${new Date(until).toISOString()}`,
      hint: 'Start a new session, or fork this one',
      data: { final: true },
    })
  const { origin, how } = resumptionOf(state.session, state.spawn, request)
  assertBudget(state, now)
  if (how !== 'fresh') assertResumeDue(state, { now, request })
  const { meter } = state
  // A new conversation of the agent counts from zero.
  const counting = origin.how === 'new' ? { ...state, meter: { ...meter, reported: [] } } : state
  const launched = launch(counting, { do: 'start', origin, how, trace }, call)
  return how === 'fresh' ? { ...launched, effects: [{ do: 'forget-once-rules' }, ...launched.effects] } : launched
}

export function agentStarted(state: SessionState, facts: AgentFacts): Step {
  const { run } = state
  if (run.phase !== 'starting') return step(state)
  const { context, session } = contextOfStart(state, facts)
  const started: SessionState = {
    ...state,
    context,
    session: withAgent(session, state, facts),
    process: facts.process,
    agentStartedAt: facts.startedAt,
    run: { ...run, hasAgent: true },
  }
  return run.cause === undefined ? step(started) : stopStarting(started, { cause: run.cause, error: cancelled() })
}

/** The handshake is done and the agent is configured: the session runs. */
export function agentReady(state: SessionState): Step {
  const { run } = state
  if (run.phase !== 'starting' || run.cause !== undefined) return step(state)
  const { session } = state
  assertTransition(session.status, 'running')
  const resumed = run.how === undefined ? {} : { resumedHow: run.how }
  return step(
    { ...state, session: { ...session, ...resumed } },
    { do: 'append', groups: [{ entries: [{ type: 'status', status: 'running', previous: 'starting' }] }] },
    // The child's identity is on the disk before anyone learns of the session: a later host can find it.
    { do: 'save' },
    { do: 'reply', call: run.call },
    URGENT,
  )
}

/** The caller gets the error when nothing of the agent is left. */
export function startFailed(state: SessionState, error: unknown, now: number): Step {
  const { run } = state
  if (run.phase !== 'starting') return step(state)
  const failed = run.how === undefined ? state : withFailedResume(state, now)
  if (isLive(state.session)) return stopStarting(failed, { cause: run.cause ?? endingOfStart(error), error })
  // The log does not have this start, so it needs no end.
  const replies = run.killers.map((call): Effect => ({ do: 'reply', call, value: { ok: true } }))
  return step({ ...failed, run: { phase: 'ended' } }, { do: 'reject', call: run.call, error }, ...replies, URGENT)
}

/** Ends the session for a caller. One that sleeps is not woken by a prompt any more. */
export function kill(state: SessionState, { call, ending }: InputOf<'kill'>, now: number): Step {
  const { run, session } = state
  const isAsleep = run.phase === 'ended' && summaryOf(session).wakeable
  if (!isAsleep || !isDecision(ending.stopReason)) return end(state, ending, call)
  const killed: SessionState = { ...state, session: { ...session, killedAt: new Date(now).toISOString() } }
  return step(killed, URGENT, { do: 'save' }, { do: 'reply', call, value: { ok: false } })
}

/** Ends the session, for a caller who waits for it or for a cause of its own. */
export function end(state: SessionState, cause: Ending, killer?: Call): Step {
  const { run } = state
  const killers = killer === undefined ? [] : [killer]
  switch (run.phase) {
    case 'ended':
      if (isLive(state.session)) return stop(state, { cause, killers })
      return step(state, ...killers.map((call): Effect => ({ do: 'reply', call, value: { ok: false } })))
    case 'starting': {
      const ending: StartingRun = { ...run, cause: run.cause ?? cause, killers: [...run.killers, ...killers] }
      const ended = { ...state, run: ending }
      return run.hasAgent
        ? stopStarting(ended, { cause: ending.cause ?? cause, error: cancelled() })
        : step(ended, { do: 'abort-start' })
    }
    case 'running':
    case 'surviving':
      return stop(state, { cause, killers })
    case 'stopping':
      return step({ ...state, run: { ...run, killers: [...run.killers, ...killers] } })
  }
}

export function agentEnded(state: SessionState, { end: ended }: InputOf<'agent-ended'>): Step {
  const { run } = state
  if (run.phase !== 'starting') return end(state, endingOf(ended))
  // Only the agent of this start can end it.
  if (!run.hasAgent) return step(state)
  return stopStarting(state, {
    cause: run.cause ?? endingOf(ended),
    error: new AgentprotoError('spawn_failed', ended.message),
  })
}

/** Nothing of the agent lives any more: what it left open is closed, then the status changes. One write has all of it. */
export function agentStopped(state: SessionState, { exit, failure }: InputOf<'agent-stopped'>, now: number): Step {
  const { run } = state
  if (run.phase !== 'stopping') return step(state)
  const stopped: SessionState = {
    ...state,
    isSending: false,
    process: undefined,
    run: { ...run, exited: { exit, failure } },
  }
  if (state.isMuted || !willRecord(state)) return endLog(stopped)
  // What the agent changed last is recorded before the end is logged; the end of its turn does not wait for it.
  const groups = openEnds(stopped)
  const ended = groups.length === 0 ? step(stopped) : step(stopped, { do: 'append', groups, hold: true })
  return andThen(ended, (after) => limitForEnd(after, now))
}

/** Logs the end of a run whose agent is gone, with what it left open. */
export function endLog(state: SessionState): Step {
  const { run, session } = state
  if (run.phase !== 'stopping' || run.exited === undefined) return step(state)
  const { exit, failure } = run.exited
  // A start that was killed never ran: its row of the table has only one way out.
  const status = session.status === 'starting' ? 'error' : run.cause.status
  assertTransition(session.status, status)
  const hasEnded = exit.exitCode !== undefined || exit.signal !== undefined
  const groups = [
    ...openEnds(state),
    { entries: endOfRun(session.status, { ...run.cause, status, failure }, hasEnded ? exit : run.cause.exit) },
  ]
  return step(state, { do: 'append', groups, hold: true })
}

/** The ends of the open turn and of the turns that wait. */
function openEnds(state: SessionState): EntryGroup[] {
  const { run } = state
  const turn = openTurn(state)
  const closed =
    turn === undefined || run.phase !== 'stopping' ? [] : [closing(state, { turn, ...turnEndOf(run.cause) })]
  return [...closed, ...unsentTurns(state)]
}

/** Something of the agent still lives, so the session may not be called ended; another kill tries again. */
export function stopFailed(state: SessionState, error: unknown): Step {
  const { run } = state
  if (run.phase !== 'stopping') return step(state)
  const message = messageOf(error)
  const waiting = [...run.killers, ...(run.starter === undefined ? [] : [run.starter.call])]
  return step(
    {
      ...state,
      run: { phase: 'surviving' },
      session: withWarning({ ...state.session, connection: 'disconnected' }, message),
    },
    { do: 'append', groups: [{ entries: [{ type: 'runtime-warning', message }] }], hold: true },
    ...waiting.map((call): Effect => ({ do: 'reject', call, error })),
    URGENT,
  )
}

/** The log has the end of the run. */
export function runOver(state: SessionState): Step {
  const { run } = state
  const over: SessionState = noRecording({ ...state, run: { phase: 'ended' }, queue: [] })
  if (run.phase !== 'stopping') return step(over)
  const replies = run.killers.map((call): Effect => ({ do: 'reply', call, value: { ok: true } }))
  const rejected: Effect[] = run.starter === undefined ? [] : [{ do: 'reject', ...run.starter }]
  return andThen(dropAsks(over), (after) => step(after, { do: 'settle' }, URGENT, ...rejected, ...replies))
}

/** Completes the log of a run that a dead host left open; its processes are gone. */
export function repair(state: SessionState, { detail, ending }: InputOf<'repair'>): Step {
  const { meter, spent = {} } = interruptedAt(state.meter, state.session.turn.lastActivityAt)
  const groups = missingEnds(state, { detail, ending })
  return step({ ...state, meter }, { do: 'spend', spent }, { do: 'append', groups, hold: true })
}

function launch(state: SessionState, effect: StartEffect, call: Call): Step {
  const { status } = state.session
  const entry: LogEntry = { type: 'status', status: 'starting', ...(status === 'starting' ? {} : { previous: status }) }
  return step(
    { ...state, isMuted: false, run: { phase: 'starting', call, how: effect.how, hasAgent: false, killers: [] } },
    // Before the log has the start: at boot the logs of ended sessions are not read.
    { do: 'save' },
    { do: 'append', groups: [{ entries: [entry] }] },
    effect,
  )
}

function withAgent(session: Session, { spawn }: SessionState, facts: AgentFacts): Session {
  const { info, sandbox, warnings, agentSessionId, kept } = facts
  // A child ends with its parent, for good.
  const resumable = isResumable(info.capabilities, spawn) && session.parentSessionId === undefined
  const started: Session = {
    ...session,
    resumable,
    agent: info,
    connection: 'connected',
    ...(agentSessionId === '' ? {} : { agentSessionId }),
    ...defined({ sandbox }),
    ...(kept === true ? { kept } : {}),
  }
  return warnings.reduce(withWarning, started)
}

function stopStarting(
  state: SessionState,
  { cause, error }: { readonly cause: Ending; readonly error: unknown },
): Step {
  const { run } = state
  if (run.phase !== 'starting') return step(state)
  return stop(state, { cause, killers: run.killers, starter: { call: run.call, error } })
}

const stop = (state: SessionState, run: Omit<StoppingRun, 'phase'>): Step =>
  step(
    stopQueue({ ...state, run: { phase: 'stopping', ...run }, watch: { ...state.watch, dueAt: Infinity } }),
    { do: 'disarm', timer: 'watch' },
    { do: 'stop', cause: run.cause },
  )

const cancelled = (): AgentprotoError => new AgentprotoError('cancelled', 'The start of the agent was cancelled')

import type { CheckpointSkipReason, CheckpointTaken, Rewound, Session } from '@agentproto/contracts'
import type { EntryGroup } from '../log/event-log.js'
import type { LogEntry } from '../log/event-record.js'
import type { InputOf } from './input.js'
import { openTurn, type SessionState, step, type Step } from './state.js'

/**
 * Recording what is in the session's folder: at each start of its agent, and after each turn that was sent. It runs beside the
 * agent. Only the next prompt and the end of the session wait for it, and not for long.
 */

/** How long the next prompt and the end of a session wait for the recording, in milliseconds. */
const WAIT_MS = 2_000

/** Begins to record. @param turn the one that has ended; 0 before the agent is started */
export function record(state: SessionState, turn: number): Step {
  if (state.recording.phase === 'off') return step(state)
  // Nothing runs: a log is read again, or completed after a crash.
  if (state.run.phase === 'ended') return step({ ...state, recording: { phase: 'missing', turn } })
  return step({ ...state, recording: { phase: 'running', turn } }, { do: 'record', turn })
}

/** Whether the running turn, or the one that has just begun, is recorded when it ends. */
export const willRecord = ({ recording, context, turn }: SessionState): boolean =>
  recording.phase === 'running' || (recording.phase !== 'off' && turn.phase === 'open' && context.isSent)

/** Limits the wait for the recording that runs, where a prompt waits for it. */
export const limitForPrompt = (state: SessionState, now: number): Step =>
  openTurn(state)?.unsent !== undefined
    ? step(state, { do: 'arm', timer: 'recording', at: now + WAIT_MS })
    : step(state)

/** Limits the wait of the session's end. */
export const limitForEnd = (state: SessionState, now: number): Step =>
  step(state, { do: 'arm', timer: 'recording', at: now + WAIT_MS })

/** The folder was recorded, or could not be. Of a recording that was given up nothing is logged. */
export function recorded(state: SessionState, { turn, outcome }: InputOf<'recorded'>): Step {
  const { recording } = state
  return recording.phase === 'running' && recording.turn === turn ? log(state, turn, outcome) : step(state)
}

/** The wait was too long. */
export function recordingOver(state: SessionState): Step {
  const { recording, run } = state
  if (recording.phase !== 'running') return step(state)
  const skipped = skippedFor(run.phase === 'stopping' ? 'session_end' : 'next_prompt')
  const { effects } = log(state, recording.turn, skipped)
  return step(state, { do: 'abort-recording' }, ...effects)
}

/** The log has the outcome, so that nothing waits for it any more. */
export const noRecording = (state: SessionState): SessionState =>
  state.recording.phase === 'off' ? state : { ...state, recording: { phase: 'idle' } }

/** What the log of a run that a dead host left open lacks about it: each turn has a checkpoint, or says why not. */
export function missingRecordings({ recording, context, turn }: SessionState): EntryGroup[] {
  const skipped = skippedFor('gateway_end')
  const earlier = recording.phase === 'missing' ? [groupOf(recording.turn, skipped)] : []
  const isOpen = turn.phase === 'open' && context.isSent && recording.phase !== 'off'
  return isOpen ? [...earlier, groupOf(turn.number, skipped)] : earlier
}

const skippedFor = (reason: CheckpointSkipReason): LogEntry => ({ type: 'checkpoint-skipped', reason })

/** What its files have become, by an event that says so. */
export function withTotals(session: Session, { total }: Pick<CheckpointTaken | Rewound, 'total'>): Session {
  return total === undefined ? session : { ...session, changes: total }
}

const log = (state: SessionState, turn: number, outcome: LogEntry): Step =>
  // It takes effect even if it cannot be stored yet: a prompt or the end of the session waits for it.
  step(state, { do: 'append', groups: [groupOf(turn, outcome)], hold: true })

const groupOf = (turn: number, entry: LogEntry): EntryGroup => ({ entries: [entry], ...(turn === 0 ? {} : { turn }) })

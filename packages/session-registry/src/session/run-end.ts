import { constants } from 'node:os'
import { type AnsweredBy, defined, isLive, type Session } from '@agentproto/contracts'
import type { Ending } from '../lifecycle/ending.js'
import type { EntryGroup } from '../log/event-log.js'
import type { LogEntry } from '../log/event-record.js'
import { closing, unsentTurns } from './closing.js'
import type { InputOf } from './input.js'
import { missingRecordings } from './recording.js'
import { openTurn, type SessionState } from './state.js'

/** What the log says at the end of a run. */

type RunEnd = Pick<Ending, 'status' | 'stopReason'> & { readonly failure?: Session['failure'] | undefined }

export const endOfRun = (
  previous: Session['status'],
  { status, stopReason, failure }: RunEnd,
  { exitCode: code, signal }: InputOf<'agent-stopped'>['exit'] = {},
): LogEntry[] => {
  const exitCode = code ?? exitCodeOf(signal)
  return [
    { type: 'status', status, previous, stopReason, ...defined({ exitCode, failure }) },
    { type: 'session-stopped', status, stopReason, ...defined({ failure, exitCode, signal }) },
  ]
}

/** As shells report the end by a signal: 128 and its number. Undefined for a signal that this system does not know. */
function exitCodeOf(signal: string | undefined): number | undefined {
  const signals: Readonly<Record<string, number | undefined>> = constants.signals
  const number = signal === undefined ? undefined : signals[signal]
  return number === undefined ? undefined : 128 + number
}

/** What the log of a run lacks at its end: the end of its open turn, and its own. */
export function missingEnds(state: SessionState, { detail, ending }: MissingEnds): EntryGroup[] {
  const turn = openTurn(state)
  const by: AnsweredBy = { type: 'gateway-end' }
  const entries: LogEntry[] = [{ type: 'repair', detail }, ...endOfRun(state.session.status, ending)]
  return [
    ...(turn === undefined ? [] : [closing(state, { turn, reason: 'error', error: { message: detail }, by })]),
    ...missingRecordings(state),
    ...unsentTurns(state),
    ...(isLive(state.session) ? [{ entries }] : []),
  ]
}

export interface MissingEnds {
  /** For people. */
  readonly detail: string
  readonly ending: RunEnd
}

import { type AnsweredBy, defined } from '@agentproto/contracts'
import type { OpenTurnEnd } from '../lifecycle/ending.js'
import type { EntryGroup } from '../log/event-log.js'
import type { LogEntry } from '../log/event-record.js'
import { resolutions } from './requests.js'
import type { QueuedPrompt } from './queued-prompt.js'
import type { OpenTurn, SessionState } from './state.js'

/** What ends a turn that the agent did not end, or never got. */

/** The end of a turn that the agent left open. */
export function closing(state: SessionState, { turn, reason, error, by = { type: 'turn-end' } }: Closing): EntryGroup {
  const entries: LogEntry[] = [
    ...turn.openTools.map((toolCallId): LogEntry => ({ type: 'tool-result', toolCallId, status: 'interrupted' })),
    ...resolutions(state, by),
    ...(error === undefined ? [] : [{ type: 'error' as const, ...error }]),
    { type: 'turn-end', reason, ...(turn.hasOutput ? {} : { empty: true }) },
  ]
  return { entries, turn: turn.number }
}

export interface Closing extends OpenTurnEnd {
  readonly turn: OpenTurn
  /** Why requests that wait are cancelled. */
  readonly by?: AnsweredBy
}

/** The turns of all prompts that wait, which are never sent. */
export const unsentTurns = ({ queue, session }: SessionState): EntryGroup[] =>
  queue.map((waiting, index) => unsentTurn(waiting, session.turnCount + 1 + index))

export const stopQueue = (state: SessionState): SessionState => ({
  ...state,
  queue: state.queue.map((waiting) => ({ ...waiting, isStopped: true })),
})

export function unsentTurn({ content, queuedAt, idempotency }: QueuedPrompt, turn: number): EntryGroup {
  const entries: LogEntry[] = [
    { type: 'user-prompt', content, origin: 'queue', queuedAt, sent: false, ...defined({ idempotency }) },
    { type: 'turn-end', reason: 'cancelled', empty: true },
  ]
  return { entries, turn }
}

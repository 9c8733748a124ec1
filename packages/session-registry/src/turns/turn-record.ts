import type { EventGap, Turn, TurnEnd, UserPrompt } from '@agentproto/contracts'

/** A turn as a resource, from its first event and its last. */

/** Where an event stands in the log. */
interface Place {
  readonly seq: number
  /** ISO-8601. */
  readonly ts: string
}

export const begunTurn = (
  number: number,
  { queuedAt, sent }: Pick<UserPrompt, 'queuedAt' | 'sent'>,
  { seq, ts }: Place,
): Turn => ({
  number,
  state: 'running',
  ...(queuedAt === undefined ? {} : { queuedAt }),
  startedAt: ts,
  ...(sent === undefined ? {} : { sent }),
  firstSeq: seq,
})

export const endedTurn = (
  turn: Turn,
  { seq, ts, reason, empty, usage }: TurnEnd & Place,
  error: string | undefined,
): Turn => ({
  ...turn,
  state: 'ended',
  endedAt: ts,
  durationMs: Math.max(0, Date.parse(ts) - Date.parse(turn.startedAt)),
  reason,
  lastSeq: seq,
  ...(empty === true ? { empty: true } : {}),
  ...(usage === undefined ? {} : { usage }),
  ...(error === undefined ? {} : { error }),
})

/**
 * A turn whose end lies in a gap: it is over, for what comes behind it is of another.
 * @param ts of the event that shows it, ISO-8601
 */
export const lostEnd = (turn: Turn, gap: EventGap, ts: string): Turn =>
  endedTurn(turn, { type: 'turn-end', reason: 'error', seq: gap.first - 1, ts }, 'How it ended cannot be read any more')

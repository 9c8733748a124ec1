import type { Turn, TurnEnd, UserPrompt } from '@agentproto/contracts'

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

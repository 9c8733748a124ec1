import type { EventGap, SessionEvent, Turn, TurnEnd, UserPrompt } from '@agentproto/contracts'

/**
 * Where turns begin and end in a log. Where events are lost, an event of another turn shows that the open turn is over, and
 * that the other one has begun.
 */
export class LoggedTurns {
  /** The turn that runs. */
  current: Turn | undefined
  #error: string | undefined
  /** Events are lost, and since then it is not known which turn runs. */
  lost: EventGap | undefined

  /** Events that begin or end a turn, or are kept with it; after a gap every event may. */
  static readonly EVENTS: ReadonlySet<SessionEvent['type']> = new Set(['user-prompt', 'error', 'turn-end'])

  /** Follows an event. @returns the turn that it ends, and the one whose end was lost before it */
  follow(event: SessionEvent): readonly Turn[] {
    const lost = this.lost === undefined ? NONE : this.find(event)
    if (event.type === 'user-prompt' && event.turn !== undefined) {
      this.current = begunTurn(event.turn, event, event)
      this.#error = undefined
    }
    const { current } = this
    if (current === undefined || event.turn !== current.number) return lost
    if (event.type === 'error') this.#error = event.message
    if (event.type !== 'turn-end') return lost
    this.current = undefined
    return [...lost, endedTurn(current, event, this.#error)]
  }

  /** Before an event that may be the first after a gap. @returns the turn whose end was lost */
  find(event: SessionEvent): readonly Turn[] {
    const { lost: gap, current: open } = this
    if (gap === undefined) return NONE
    // No turn runs beyond the end of a run.
    const isEnd = event.type === 'session-stopped'
    if (event.turn === undefined && !isEnd) return NONE
    this.lost = undefined
    if (open !== undefined && !isEnd && event.turn === open.number) return NONE
    this.current =
      event.turn === undefined || event.type === 'user-prompt'
        ? undefined
        : begunTurn(event.turn, {}, { seq: gap.after + 1, ts: event.ts })
    this.#error = undefined
    return open === undefined ? NONE : [lostEnd(open, gap, event.ts)]
  }
}

const NONE: readonly Turn[] = []

/** Where an event stands in the log. */
interface Place {
  readonly seq: number
  /** ISO-8601. */
  readonly ts: string
}

const begunTurn = (
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

const endedTurn = (
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
const lostEnd = (turn: Turn, gap: EventGap, ts: string): Turn =>
  endedTurn(turn, { type: 'turn-end', reason: 'error', seq: gap.first - 1, ts }, 'How it ended cannot be read any more')

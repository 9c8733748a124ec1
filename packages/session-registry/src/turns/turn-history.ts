import {
  AgentprotoError,
  type CheckpointTaken,
  defined,
  type EventGap,
  type SessionEvent,
  type Turn,
  type TurnEnd,
  type TurnOutput,
  TurnParts,
  type TurnResult,
  type UserPrompt,
} from '@agentproto/contracts'

/** The turns of one session, from its log: the running one, the latest that ended, and callers that wait for one. */

const KEPT = 1_000
/** Output of the last turn that is kept for late callers, in characters; that of others is read from the log. */
const MAX_KEPT_OUTPUT = 64 * 1024

export class TurnHistory {
  #ended: Turn[]
  readonly #logged = new LoggedTurns()
  /** Output of the running turn. */
  #parts = new TurnParts()
  #count: number
  #last: TurnResult | undefined
  /** Callers that wait for the result of a turn. */
  readonly #waiting = new Map<number, Set<(result: TurnResult) => void>>()

  /**
   * @param turns those that are stored; one that had not ended is left out, to be read from the log again
   * @param count number of the last turn
   */
  constructor(turns: readonly Turn[], count: number) {
    this.#ended = turns.filter(({ state }) => state === 'ended')
    this.#count = turns.length > this.#ended.length ? count - 1 : count
  }

  /** Replaces the turns by those of a history that was made from the whole log; none may be running. */
  restore({ all, count }: TurnHistory): void {
    this.#ended = all.filter(({ state }) => state === 'ended')
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  get current(): Turn | undefined {
    return this.#logged.current
  }

  /** Whether events are lost, and since then it is not known which turn runs. */
  get isLost(): boolean {
    return this.#logged.lost !== undefined
  }

  /** Oldest first, at most a thousand. */
  get all(): readonly Turn[] {
    const { current } = this.#logged
    return current === undefined ? this.#ended : [...this.#ended, current]
  }

  /** Follows events of the log, in order. */
  effective(events: readonly SessionEvent[]): void {
    for (const event of events) {
      if (event.type === 'checkpoint') this.#addChanges(event)
      const { current } = this.#logged
      const isOfTurn = current !== undefined && event.turn === current.number
      if (isOfTurn) this.#parts.add(event)
      if (!LoggedTurns.EVENTS.has(event.type) && this.#logged.lost === undefined) continue
      for (const ended of this.#logged.follow(event)) this.#end(ended)
      if (!isOfTurn) this.#begin(event)
    }
  }

  /** What the folder has become since the checkpoint before, once that is known: the turn has ended by then. */
  #addChanges(event: SessionEvent & { readonly type: 'checkpoint' }): void {
    const at = this.#ended.findLastIndex(({ number }) => number === event.turn)
    const turn = this.#ended[at]
    if (turn === undefined) return
    this.#ended = this.#ended.with(at, withChanges(turn, event))
    if (this.#last?.number === turn.number) this.#last = withChanges(this.#last, event)
  }

  skip(gap: EventGap): void {
    this.#logged.lost = gap
  }

  /** Before an event that may be the first after a gap: the open turn may be over, and another one have begun. */
  find(event: SessionEvent): void {
    for (const ended of this.#logged.find(event)) this.#end(ended)
    this.#begin()
    // A turn counts although all of its events are lost.
    if (event.type === 'user-prompt') this.#count = Math.max(this.#count, (event.turn ?? 1) - 1)
  }

  /** The first event of the turn that holds `seq`; 1 when that is not known. */
  startOf(seq: number): number {
    return startOf(this.all, seq)
  }

  /** What a turn has put out so far; undefined for one whose output is only in the log. */
  output(number: number): TurnOutput | undefined {
    if (this.#logged.current?.number === number) return this.#parts.output()
    return this.#last?.number === number ? this.#last : undefined
  }

  /**
   * The result of the last turn, or a promise of it for a turn that runs or is one of the `queued` next ones. Undefined for
   * a turn that is only in the log. @throws `cancelled` when the signal aborts
   */
  wait(number: number, queued: number, signal?: AbortSignal): Promise<TurnResult> | undefined {
    const isRunning = this.#logged.current?.number === number
    if (!isRunning && (number <= this.#count || number > this.#count + queued))
      return this.#last?.number === number ? Promise.resolve(this.#last) : undefined
    const waiting = this.#waiting.get(number) ?? new Set()
    this.#waiting.set(number, waiting)
    const result = new Promise<TurnResult>((resolve) => waiting.add(resolve))
    return signal === undefined ? result : abortable(result, signal)
  }

  /** A turn may have begun, with this event or in a gap before it. */
  #begin(event?: SessionEvent): void {
    const { current } = this.#logged
    if (current === undefined || current.number <= this.#count) return
    this.#count = current.number
    this.#parts = new TurnParts()
    if (event?.turn === current.number) this.#parts.add(event)
  }

  #end(ended: Turn): void {
    this.#ended.push(ended)
    if (this.#ended.length > KEPT) this.#ended = this.#ended.slice(-KEPT / 2)
    const result = { ...ended, ...this.#parts.output() }
    this.#last = this.#parts.chars > MAX_KEPT_OUTPUT ? undefined : result
    for (const resolve of this.#waiting.get(ended.number) ?? []) resolve(result)
    this.#waiting.delete(ended.number)
  }
}

/** The first event of the turn that holds `seq`; 1 when that is not known. */
export const startOf = (turns: readonly Turn[], seq: number): number =>
  turns.findLast(({ firstSeq }) => firstSeq <= seq)?.firstSeq ?? 1

function abortable(result: Promise<TurnResult>, signal: AbortSignal): Promise<TurnResult> {
  return new Promise((resolve, reject) => {
    const cancel = (): void =>
      reject(new AgentprotoError('cancelled', 'The wait for the turn was cancelled; the turn goes on'))
    if (signal.aborted) return cancel()
    signal.addEventListener('abort', cancel, { once: true })
    void result.then(resolve).finally(() => signal.removeEventListener('abort', cancel))
  })
}

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

  /** Events of a turn that come after its end, also while the next one runs. */
  static readonly AFTER_TURN: ReadonlySet<SessionEvent['type']> = new Set(['checkpoint', 'checkpoint-skipped'])

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
    if ((event.turn === undefined && !isEnd) || LoggedTurns.AFTER_TURN.has(event.type)) return NONE
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

export const withChanges = <T extends Turn>(turn: T, { files, additions, deletions }: CheckpointTaken): T => ({
  ...turn,
  changes: { files, additions, deletions },
})

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
): Turn => ({ number, state: 'running', startedAt: ts, firstSeq: seq, ...defined({ queuedAt, sent }) })

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
  ...defined({ empty: empty || undefined, usage, error }),
})

/**
 * A turn whose end lies in a gap: it is over, for what comes behind it is of another.
 * @param ts of the event that shows it, ISO-8601
 */
const lostEnd = (turn: Turn, gap: EventGap, ts: string): Turn =>
  endedTurn(turn, { type: 'turn-end', reason: 'error', seq: gap.first - 1, ts }, 'How it ended cannot be read any more')

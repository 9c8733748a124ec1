import type { EventGap, Session, SessionEvent } from '@agentproto/contracts'
import type { LogItem } from '../log/log-gap.js'
import { isOver } from '../turns/logged-turns.js'
import { SessionRecord } from '../records/session-record.js'
import { TurnBook } from '../turns/turn-book.js'

/** A session's record and turns, made from nothing but its log and what its start decided. */
export class SessionRebuild {
  readonly turns = new TurnBook([], 0)
  readonly #record: SessionRecord
  /** Requests that nobody had answered. */
  readonly #requests = new Set<string>()
  #lastSeq = 0
  /** Events were gone, and since then it is not known which turn runs. */
  #gap: EventGap | undefined

  constructor(start: Session) {
    this.#record = new SessionRecord(bornAs(start))
  }

  get lastSeq(): number {
    return this.#lastSeq
  }

  get openRequests(): readonly string[] {
    return [...this.#requests]
  }

  get session(): Session {
    const snapshot = this.#record.snapshot({ pendingRequests: 0, lastSeq: this.#lastSeq })
    // A turn counts whose prompt is gone.
    const turnCount = this.turns.count
    return { ...snapshot, turnCount, turn: { ...snapshot.turn, number: turnCount } }
  }

  /** Whether a turn can begin with this prompt. */
  admits(event: SessionEvent & { readonly type: 'user-prompt' }): boolean {
    return this.turns.current === undefined && event.turn === this.turns.count + 1
  }

  take(event: SessionEvent): void {
    this.#lastSeq = event.seq
    if (event.type === 'user-prompt' && this.admits(event)) this.turns.begin(event, event.seq, event.ts)
    if (event.type === 'agent-prompt') this.#requests.add(event.requestId)
    if (event.type === 'agent-prompt-resolved') this.#requests.delete(event.requestId)
    this.#record.apply(event)
    this.turns.follow(event)
  }

  /** These events are gone; those that stand for them are taken nowhere. */
  skip(gap: EventGap): void {
    this.#lastSeq = gap.first - 1
    this.#gap = gap
  }

  /** Before an event that may be the first behind a gap: the turn that was open may be over, and another one have begun. */
  find(event: SessionEvent): void {
    const gap = this.#gap
    if (gap === undefined) return
    const { current, count } = this.turns
    if (current !== undefined && (isOver(event) || (event.turn ?? current.number) !== current.number)) {
      this.turns.lose(gap, event.ts)
      this.#requests.clear()
    }
    if (event.turn === undefined && !isOver(event)) return
    this.#gap = undefined
    if (event.turn === undefined || event.turn <= count) return
    this.turns.skipTo(event.turn - 1)
    if (event.type !== 'user-prompt') this.turns.begin({}, gap.after + 1, event.ts)
  }

  async takeAll(items: AsyncIterable<LogItem>): Promise<this> {
    for await (const item of items) {
      // What the log no longer has at its end counts for nothing: the record is held against what it has.
      if (item.type === 'gap') this.#gap = item.gap
      else {
        this.find(item)
        this.take(item)
      }
    }
    return this
  }
}

/** As it was before anything of it was logged. */
function bornAs(session: Session): Session {
  const {
    unsentTurns: _u,
    endedAt: _e,
    stopReason: _s,
    failure: _f,
    exitCode: _c,
    signal: _g,
    lastOutputAt: _o,
    ...rest
  } = session
  return { ...rest, status: 'starting', connection: 'disconnected', turnCount: 0, turn: { number: 0, state: 'idle' } }
}

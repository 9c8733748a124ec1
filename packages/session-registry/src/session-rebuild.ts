import type { Session, SessionEvent } from '@agentproto/contracts'
import { SessionRecord } from './session-record.js'
import { TurnBook } from './turn-book.js'

/** A session's record and turns, made from nothing but its log and what its start decided. */
export class SessionRebuild {
  readonly turns = new TurnBook([], 0)
  readonly #record: SessionRecord
  /** Requests that nobody had answered. */
  readonly #requests = new Set<string>()
  #lastSeq = 0

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
    return this.#record.snapshot({ pendingRequests: 0, lastSeq: this.#lastSeq })
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

  async takeAll(events: AsyncIterable<SessionEvent>): Promise<this> {
    for await (const event of events) this.take(event)
    return this
  }
}

/** As it was before anything of it was logged. */
function bornAs(session: Session): Session {
  const { endedAt: _e, stopReason: _s, failure: _f, exitCode: _c, signal: _g, lastOutputAt: _o, ...rest } = session
  return { ...rest, status: 'starting', connection: 'disconnected', turnCount: 0, turn: { number: 0, state: 'idle' } }
}

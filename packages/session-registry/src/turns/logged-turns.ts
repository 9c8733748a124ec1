import type { EventGap, SessionEvent, Turn } from '@agentproto/contracts'
import { begunTurn, endedTurn, lostEnd } from './turn-record.js'

/**
 * Where turns begin and end in a log. Where events are lost, an event of another turn shows that the open turn is over, and
 * that the other one has begun.
 */
export class LoggedTurns {
  #open: { readonly turn: Turn; error: string | undefined } | undefined
  #gap: EventGap | undefined

  /** Events that begin or end a turn, or are kept with it; after a gap every event may. */
  static readonly EVENTS: ReadonlySet<SessionEvent['type']> = new Set(['user-prompt', 'error', 'turn-end'])

  /** The turn that runs. */
  get current(): Turn | undefined {
    return this.#open?.turn
  }

  /** Whether events are lost, and since then it is not known which turn runs. */
  get isLost(): boolean {
    return this.#gap !== undefined
  }

  skip(gap: EventGap): void {
    this.#gap = gap
  }

  /** Follows an event. @returns the turn that it ends, and the one whose end was lost before it */
  follow(event: SessionEvent): readonly Turn[] {
    const lost = this.find(event)
    if (event.type === 'user-prompt' && event.turn !== undefined)
      this.#open = { turn: begunTurn(event.turn, event, event), error: undefined }
    if (this.#open === undefined || event.turn !== this.#open.turn.number) return lost
    if (event.type === 'error') this.#open.error = event.message
    if (event.type !== 'turn-end') return lost
    const ended = endedTurn(this.#open.turn, event, this.#open.error)
    this.#open = undefined
    return [...lost, ended]
  }

  /** Before an event that may be the first after a gap. @returns the turn whose end was lost */
  find(event: SessionEvent): readonly Turn[] {
    const gap = this.#gap
    if (gap === undefined) return NONE
    // No turn runs beyond the end of a run.
    const isEnd = event.type === 'session-stopped'
    if (event.turn === undefined && !isEnd) return NONE
    this.#gap = undefined
    const open = this.#open?.turn
    if (open !== undefined && !isEnd && event.turn === open.number) return NONE
    this.#open =
      event.turn === undefined || event.type === 'user-prompt' ? undefined : begunIn(gap, event.turn, event.ts)
    return open === undefined ? NONE : [lostEnd(open, gap, event.ts)]
  }
}

const begunIn = (gap: EventGap, number: number, ts: string): { turn: Turn; error: undefined } => ({
  turn: begunTurn(number, {}, { seq: gap.after + 1, ts }),
  error: undefined,
})

const NONE: readonly Turn[] = []

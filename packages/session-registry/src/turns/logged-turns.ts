import type { EventGap, SessionEvent, Turn } from '@agentproto/contracts'
import { begunTurn, endedTurn, lostEnd } from './turn-record.js'

/**
 * Turns from the events of a log. Where events are gone, an event of another turn shows that the open turn is over, and that
 * the other one has begun.
 */
export class LoggedTurns {
  #open: { readonly turn: Turn; error: string | undefined } | undefined
  #gap: EventGap | undefined

  /** Whether it is not known, since a gap, which turn runs. */
  get isLost(): boolean {
    return this.#gap !== undefined
  }

  skip(gap: EventGap): void {
    this.#gap = gap
  }

  /** Turns that the event ends. */
  *take(event: SessionEvent): Generator<Turn> {
    if (this.#gap !== undefined) yield* this.#find(event, this.#gap)
    if (event.type === 'user-prompt' && event.turn !== undefined)
      this.#open = { turn: begunTurn(event.turn, event, event), error: undefined }
    if (this.#open === undefined || event.turn !== this.#open.turn.number) return
    if (event.type === 'error') this.#open.error = event.message
    if (event.type !== 'turn-end') return
    yield endedTurn(this.#open.turn, event, this.#open.error)
    this.#open = undefined
  }

  *rest(): Generator<Turn> {
    if (this.#open !== undefined) yield this.#open.turn
  }

  /** The turn that was open may have ended in the gap, and another one begun. */
  *#find(event: SessionEvent, gap: EventGap): Generator<Turn> {
    const { turn } = this.#open ?? {}
    if (turn !== undefined && (isOver(event) || (event.turn ?? turn.number) !== turn.number)) {
      yield lostEnd(turn, gap, event.ts)
      this.#open = undefined
    }
    if (event.turn === undefined && !isOver(event)) return
    this.#gap = undefined
    if (event.type === 'user-prompt' || event.turn === undefined || this.#open !== undefined) return
    this.#open = { turn: begunTurn(event.turn, {}, { seq: gap.after + 1, ts: event.ts }), error: undefined }
  }
}

/** No turn runs beyond the end of a run. */
export const isOver = ({ type }: SessionEvent): boolean => type === 'session-stopped'

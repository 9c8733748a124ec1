import { BEGIN_WITHIN_MS, CLOCK_DIFFERENCE_MS } from './call-frame.js'
import { PEER_BOUNDS } from './peer-bounds.js'

/** An ended call is remembered as long as a message could begin it. */
export const REMEMBERED_MS = BEGIN_WITHIN_MS + 2 * CLOCK_DIFFERENCE_MS

/** Ids of the calls of one host that have ended, so that none of them runs again. */
export class EndedCalls {
  readonly #now: () => number
  /** Until when each is remembered, oldest first. */
  readonly #ended = new Map<string, number>()

  constructor(now: () => number) {
    this.#now = now
  }

  get isEmpty(): boolean {
    return this.#ended.size === 0
  }

  /** Whether one more can be remembered: else none may begin. */
  hasRoom(): boolean {
    if (this.#ended.size >= PEER_BOUNDS.ended) this.forget()
    return this.#ended.size < PEER_BOUNDS.ended
  }

  has(id: string): boolean {
    return this.#ended.has(id)
  }

  add(id: string): void {
    this.#ended.set(id, this.#now() + REMEMBERED_MS)
  }

  /** Those that nothing could begin any more. */
  forget(): void {
    const now = this.#now()
    for (const [id, until] of this.#ended) {
      if (until >= now) return
      this.#ended.delete(id)
    }
  }
}

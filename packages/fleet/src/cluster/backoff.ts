import { type Clock, pause } from '@agentproto/contracts'

const FIRST_MS = 50
const MOST_MS = 5_000

/** Waits longer with each attempt that failed, at most five seconds. */
export class Backoff {
  readonly #clock: Clock
  #ms = FIRST_MS

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves after the next delay, or when `signal` aborts. */
  wait(signal: AbortSignal): Promise<void> {
    const ms = this.#ms
    this.#ms = Math.min(MOST_MS, ms * 2)
    return pause(this.#clock, ms, signal)
  }

  /** After a success. */
  reset(): void {
    this.#ms = FIRST_MS
  }
}

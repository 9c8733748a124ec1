import type { Clock, Timer } from '@agentproto/contracts'
import type { TimerName } from './state.js'

/** The timers of one session, each armed once. */
export class SessionTimers {
  readonly #clock: Clock
  readonly #fire: (name: TimerName) => void
  readonly #armed = new Map<TimerName, Timer>()
  #isClosed = false

  constructor(clock: Clock, fire: (name: TimerName) => void) {
    this.#clock = clock
    this.#fire = fire
  }

  /** @param at in milliseconds since the epoch */
  arm(name: TimerName, at: number): void {
    this.#armed.get(name)?.cancel()
    if (this.#isClosed) return
    const fire = (): void => {
      this.#armed.delete(name)
      this.#fire(name)
    }
    this.#armed.set(name, this.#clock.after(Math.max(0, at - this.#clock.now()), fire))
  }

  disarm(name: TimerName): void {
    this.#armed.get(name)?.cancel()
    this.#armed.delete(name)
  }

  /** None fires any more. */
  close(): void {
    this.#isClosed = true
    for (const timer of this.#armed.values()) timer.cancel()
    this.#armed.clear()
  }
}

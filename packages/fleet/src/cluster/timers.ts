import type { Clock, Timer } from '@agentproto/contracts'

/** Timers that end together. */
export class Timers {
  readonly #clock: Clock
  readonly #running = new Set<Timer>()
  #isClosed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  after(ms: number, run: () => void): void {
    if (this.#isClosed) return
    const timer = this.#clock.after(ms, () => {
      this.#running.delete(timer)
      run()
    })
    this.#running.add(timer)
  }

  close(): void {
    this.#isClosed = true
    for (const timer of this.#running) timer.cancel()
  }
}

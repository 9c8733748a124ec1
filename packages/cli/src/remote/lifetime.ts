import { type Clock, systemClock, type Timer } from '@agentproto/contracts'

/** How long requests that are on their way may take when the command ends, in milliseconds. */
const LAST_MS = 1_000

/** The time in which a command talks to a gateway. Nothing that waits for the gateway outlasts it. */
export class Lifetime {
  readonly #waiting = new Set<() => void>()
  readonly #over = new AbortController()
  #isLeaving = false

  /** The clock of what waits for the gateway: its timers fire when the command ends. */
  readonly clock: Clock = { now: () => systemClock.now(), after: (ms, run) => this.#after(ms, run) }

  /** Whether the command ends: nothing is tried again. */
  get isLeaving(): boolean {
    return this.#isLeaving
  }

  /** Aborts what is still on its way then. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  leave(): void {
    this.#isLeaving = true
    for (const fire of this.#waiting) fire()
    systemClock.after(LAST_MS, () => this.#over.abort())
  }

  #after(ms: number, run: () => void): Timer {
    const timer = systemClock.after(this.#isLeaving ? 0 : ms, fire)
    const waiting = this.#waiting.add(fire)
    function cancel(): void {
      timer.cancel()
      waiting.delete(fire)
    }
    function fire(): void {
      cancel()
      run()
    }
    return { cancel }
  }
}

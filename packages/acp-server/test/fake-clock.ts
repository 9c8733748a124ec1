import type { Clock, Timer } from '@agentproto/contracts'

/** A clock that stands still until it is advanced. */
export class FakeClock implements Clock {
  #now = 0
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>()

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): Timer {
    const timer = { at: this.#now + ms, run }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  advance(ms: number): void {
    const until = this.#now + ms
    for (;;) {
      const next = [...this.#timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = next.at
      next.run()
    }
    this.#now = until
  }
}

import type { Clock, Timer } from '@agentproto/contracts'

/** A log that grows by little is published this often, in milliseconds: each message costs this host and three servers far more than its bytes. */
const BEAT_MS = 50

/** When the publications of a host go on after a small batch: at one beat for all, so that their messages leave in few writes. */
export class PublishPace {
  readonly #clock: Clock
  readonly #waiting = new Set<() => void>()
  #beat: Timer | undefined
  #hurries = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Resolves at the next beat; at once when `signal` aborts, or when all hurry. */
  wait(signal: AbortSignal): Promise<void> {
    if (this.#hurries > 0 || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const goOn = (): void => {
        signal.removeEventListener('abort', goOn)
        this.#left(goOn)
        resolve()
      }
      signal.addEventListener('abort', goOn, { once: true })
      this.#waiting.add(goOn)
      this.#beat ??= this.#clock.after(BEAT_MS, () => this.#release())
    })
  }

  /** From now on nothing waits. @returns a function that ends it */
  hurry(): () => void {
    this.#hurries += 1
    this.#release()
    let isOver = false
    return () => {
      if (!isOver) this.#hurries -= 1
      isOver = true
    }
  }

  #release(): void {
    for (const goOn of this.#waiting) goOn()
  }

  #left(waiting: () => void): void {
    this.#waiting.delete(waiting)
    if (this.#waiting.size > 0) return
    this.#beat?.cancel()
    this.#beat = undefined
  }
}

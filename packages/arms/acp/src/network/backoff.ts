import { type Clock, pause } from '@agentproto/contracts'

/** The first attempt comes after this, in milliseconds; each next one after twice as long as the one before. */
const FIRST_MS = 250
const LONGEST_MS = 10_000
/** A connection that holds for this long was a recovery; one that does not is part of the same outage. */
const STABLE_MS = 30_000

export interface BackoffOptions {
  readonly clock: Clock
  /** How long an outage may last, in milliseconds. */
  readonly limitMs: number
  /** Between 0 and 1; a test gives its own. */
  readonly random?: () => number
}

/**
 * When the next attempt to connect is made. The waits grow, and vary so that the clients of a gateway that restarts do not
 * all come back at once.
 */
export class Backoff {
  readonly #options: BackoffOptions
  #attempts = 0
  /** When the outage began. */
  #since: number | undefined
  /** When it seemed to be over. */
  #until: number | undefined

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  /** The connection was lost. */
  begin(): void {
    const now = this.#options.clock.now()
    const isNew = this.#since === undefined || (this.#until !== undefined && now - this.#until >= STABLE_MS)
    if (isNew) {
      this.#since = now
      this.#attempts = 0
    }
    this.#until = undefined
  }

  /** The connection is back. */
  over(): void {
    this.#until = this.#options.clock.now()
  }

  /** Milliseconds until the outage has lasted too long. */
  get leftMs(): number {
    const { clock, limitMs } = this.#options
    return Math.max(0, limitMs - (clock.now() - (this.#since ?? clock.now())))
  }

  /** Waits for the next attempt. @returns false when there is none */
  async next(signal: AbortSignal): Promise<boolean> {
    const { clock, random = Math.random } = this.#options
    const longest = Math.min(FIRST_MS * 2 ** this.#attempts++, LONGEST_MS)
    const ms = longest / 2 + (longest / 2) * random()
    if (ms >= this.leftMs) return false
    await pause(clock, ms, signal)
    return !signal.aborted
  }
}

import type { Clock } from '@agentproto/contracts'
import type { ConnectionFault } from './connection-error.js'

/** Pauses before the second and third attempt of a repeatable call, in ms. */
const QUICK_PAUSES = [50, 250]
const LONGEST_PAUSE_MS = 2_000

export interface CallRetriesOptions {
  readonly clock: Clock
  /** How long a gateway that is gone is waited for, in ms. */
  readonly forMs: number
  /** Whether a call that may have arrived may be sent again. */
  readonly isRepeatable: boolean
}

/** When a call without an answer is made again. */
export class CallRetries {
  readonly #options: CallRetriesOptions
  #failures = 0
  #since: number | undefined

  constructor(options: CallRetriesOptions) {
    this.#options = options
  }

  /** A failure. @returns the pause before the next attempt in ms; undefined when there is none */
  next(fault: ConnectionFault): number | undefined {
    const { clock, forMs, isRepeatable } = this.#options
    const now = clock.now()
    this.#since ??= now
    const failure = this.#failures++
    if (fault === 'dropped' && !isRepeatable) return undefined
    const quick = fault === 'dropped' ? QUICK_PAUSES[failure] : undefined
    if (quick !== undefined) return quick
    const left = this.#since + forMs - now
    return left > 0 ? Math.min(100 * 2 ** Math.min(failure, 10), LONGEST_PAUSE_MS, left) : undefined
  }
}

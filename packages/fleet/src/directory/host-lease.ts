import type { LeaseTimes } from './lease.js'
import { atMostSince, type LeaseClock, type Moment } from './moment.js'

/** Whether this host has its lease, and since when it has been so. */
export interface HeldLease {
  /** Of this stay in the fleet; undefined when the lease is not held now. */
  readonly term: string | undefined
}

/**
 * The lease of this host, as this host may believe it. It is counted from the moment at which the last stored heartbeat
 * was sent, and compared with the clocks at each question: a process that was frozen learns that the lease is gone
 * before it acts.
 */
export class HostLease implements HeldLease {
  readonly #times: LeaseTimes
  readonly #clock: LeaseClock
  #held: { readonly term: string; readonly sent: Moment } | undefined

  constructor(times: LeaseTimes, clock: LeaseClock) {
    this.#times = times
    this.#clock = clock
  }

  get term(): string | undefined {
    return this.#held !== undefined && this.leftMs > 0 ? this.#held.term : undefined
  }

  /** How much of it is left, in milliseconds. */
  get leftMs(): number {
    if (this.#held === undefined) return 0
    return Math.max(0, this.#times.heldMs - atMostSince(this.#held.sent, this.#clock))
  }

  /** @param sent When the heartbeat that is now stored was sent */
  renew(term: string, sent: Moment): void {
    this.#held = { term, sent }
  }

  drop(): void {
    this.#held = undefined
  }
}

import type { Clock } from '@agentproto/contracts'
import { clusterError } from '../cluster/cluster.js'
import { isDenied } from '../cluster/is-denied.js'

/** Servers elect a leader in less. */
const LONG_MS = 15_000

/** Attempts to store something that all failed since one succeeded. */
export class Unstored {
  readonly #clock: Clock
  readonly #onFailing: (why: string) => void
  #failing: { readonly since: number; readonly isReported: boolean } | undefined

  constructor(clock: Clock, onFailing: (why: string) => void) {
    this.#clock = clock
    this.#onFailing = onFailing
  }

  stored(): void {
    this.#failing = undefined
  }

  /** Reported once, after a while: an election of the servers ends by itself. That a right is missing does not. */
  failed(error: unknown): void {
    const now = this.#clock.now()
    this.#failing ??= { since: now, isReported: false }
    const { since, isReported } = this.#failing
    if (isReported || (now - since < LONG_MS && !isDenied(error))) return
    this.#failing = { since, isReported: true }
    this.#onFailing(clusterError(error).message)
  }
}

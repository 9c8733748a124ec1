import { createHash } from 'node:crypto'
import { AgentprotoError, type Clock } from '@agentproto/contracts'

/** Answers of calls by the caller's key, so that a retry of a slow call does not repeat its work (F40). */

const KEPT_MS = 10 * 60_000
const MAX_KEYS = 1_000

interface Kept<T> {
  /** Digest: a request may be of 4 MiB, and keys are many. */
  readonly request: string
  readonly answer: Promise<T>
  readonly until: number
}

export class Idempotency<T> {
  readonly #clock: Clock
  readonly #kept = new Map<string, Kept<T>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Runs the call, or returns the answer of the call with the same key. A call that failed is forgotten.
   * @throws `idempotency_conflict` when the key was used with another request
   */
  once(key: string, request: object, call: () => Promise<T>): Promise<T> {
    const now = this.#clock.now()
    this.#forgetOld(now)
    const digest = createHash('sha256').update(JSON.stringify(request)).digest('base64')
    const known = this.#kept.get(key)
    if (known !== undefined) {
      if (known.request === digest) return known.answer
      return Promise.reject(
        new AgentprotoError('idempotency_conflict', 'The idempotency key was used with another request', {
          given: key,
        }),
      )
    }
    const answer = call()
    this.#kept.set(key, { request: digest, answer, until: now + KEPT_MS })
    answer.catch(() => this.#kept.delete(key))
    return answer
  }

  #forgetOld(now: number): void {
    for (const [key, { until }] of this.#kept) {
      // Oldest first: the first young one ends the loop.
      if (until > now && this.#kept.size < MAX_KEYS) return
      this.#kept.delete(key)
    }
  }
}

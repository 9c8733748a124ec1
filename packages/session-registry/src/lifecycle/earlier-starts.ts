import type { IdempotencyDigests, Session } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import { type EarlierCall, KEPT_MS } from '../idempotency.js'

/** Sessions that an earlier host has started, by the idempotency key of the call, whether its caller got the answer or not. */
export class EarlierStarts {
  readonly #byKey = new Map<string, { readonly id: string; readonly request: string; readonly until: number }>()
  readonly #descriptor: (id: string) => Session | undefined

  constructor(descriptor: (id: string) => Session | undefined) {
    this.#descriptor = descriptor
  }

  /** @param stored the records that the earlier host left */
  add(stored: readonly StoredSession[]): void {
    for (const { session, spawn } of stored) {
      const { idempotency } = spawn
      if (idempotency === undefined) continue
      const until = Date.parse(session.startedAt) + KEPT_MS
      this.#byKey.set(idempotency.key, { id: session.id, request: idempotency.request, until })
    }
  }

  /** @returns undefined when there is none; a start that failed may be made again */
  find(
    { key }: IdempotencyDigests,
    { now, goOn }: { readonly now: number; readonly goOn: (id: string) => Promise<Session> },
  ): Promise<EarlierCall<Session>> | undefined {
    const earlier = this.#byKey.get(key)
    if (earlier === undefined || earlier.until <= now) return undefined
    const { id, request } = earlier
    const session = this.#descriptor(id)
    if (session === undefined || session.failure?.kind === 'startup_failure') return undefined
    return Promise.resolve({ request, answer: () => goOn(id) })
  }
}

import { createHash } from 'node:crypto'
import { AgentprotoError, type Clock, type IdempotencyDigests, type Principal } from '@agentproto/contracts'

/**
 * Answers of calls by the caller's key, so that a retry of a slow call does not repeat its work (F40). Each caller has keys
 * of its own: none sees another's answer, and none can fill the table of another.
 */

/** How long the answer to a call is kept, in milliseconds. */
export const KEPT_MS = 10 * 60_000
const MAX_KEYS_OF_ONE = 1_000

interface Kept<T> {
  /** Digest: a request may be of 4 MiB, and keys are many. */
  readonly request: string
  readonly answer: Promise<T>
  readonly until: number
}

export class Idempotency<T> {
  readonly #clock: Clock
  readonly #callers = new Map<string, Map<string, Kept<T>>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Runs the call, or returns the answer of the call with the same key. A call that failed is forgotten.
   * @throws `idempotency_conflict` when the key was used with another request
   */
  once(by: Principal, key: string, { request, call, find }: Once<T>): Promise<T> {
    const now = this.#clock.now()
    this.#forgetOld(now)
    const caller = callerOf(by)
    const kept = this.#callers.get(caller) ?? new Map<string, Kept<T>>()
    this.#callers.set(caller, kept)
    const digests = { key: digestOf([caller, key]), request: digestOf(request) }
    const known = kept.get(key)
    if (known !== undefined) return known.request === digests.request ? known.answer : Promise.reject(conflict(key))
    const answer = answerOf(find?.(digests), { digests, key, call })
    kept.set(key, { request: digests.request, answer, until: now + KEPT_MS })
    answer.catch(() => kept.delete(key))
    return answer
  }

  #forgetOld(now: number): void {
    for (const [caller, kept] of this.#callers) {
      for (const [key, { until }] of kept) {
        // Oldest first: the first young one ends the loop.
        if (until > now && kept.size < MAX_KEYS_OF_ONE) break
        kept.delete(key)
      }
      if (kept.size === 0) this.#callers.delete(caller)
    }
  }
}

/**
 * With its bounds: a name may be another token's by now, which must not get what was answered to this one. And with its host: each
 * host of a fleet has tokens of its own, which may have the same name.
 */
function callerOf(by: Principal): string {
  const { type, name, via } = by
  if (by.type !== 'token') return JSON.stringify([type, name])
  return JSON.stringify([type, name, by.scope, by.workspaces, by.folders, ...(via === undefined ? [] : [via])])
}

const digestOf = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('base64')

/** What an earlier host has answered, or else the call. */
async function answerOf<T>(
  earlier: Promise<EarlierCall<T> | undefined> | undefined,
  { digests, key, call }: Pick<Once<T>, 'call'> & { readonly digests: IdempotencyDigests; readonly key: string },
): Promise<T> {
  const found = earlier && (await earlier)
  if (found === undefined) return call(digests)
  if (found.request !== digests.request) throw conflict(key)
  return found.answer()
}

const conflict = (given: string): AgentprotoError =>
  new AgentprotoError('idempotency_conflict', 'The idempotency key was used with another request', { given })

interface Once<T> {
  readonly request: object
  /** Gets what it has to store, so that the next host recognises a repeat. */
  readonly call: (digests: IdempotencyDigests) => Promise<T>
  /** Looks for the same call to an earlier host; undefined when there can be none. */
  readonly find?: FindEarlier<T>
}

export type FindEarlier<T> = (digests: IdempotencyDigests) => Promise<EarlierCall<T> | undefined> | undefined

/** A call that an earlier host has accepted. */
export interface EarlierCall<T> {
  /** Digest of its request. */
  readonly request: string
  readonly answer: () => Promise<T>
}

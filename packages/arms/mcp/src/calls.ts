import type { EarlierHost } from '@agentproto/arm-kit'
import { asNumber, type Json } from '@agentproto/contracts'

/** Ids of dropped calls that are kept. */
const MAX_FORGOTTEN = 256
/** Ids of our own requests; the SDK counts its own from 0. */
const FIRST_ID = 2 ** 30

/** What a later host needs to know of the calls at an idle point. */
export interface CallsFacts {
  /** The id of the next one. */
  readonly next: number
  /** Calls whose turns are over, and whose answers may still come. */
  readonly forgotten: readonly number[]
}

/** Our own requests that wait for their answers, by their ids. */
export class Calls {
  readonly #waiting = new Map<number, (response: Json) => void>()
  readonly #forgotten = new Set<number>()
  #next = FIRST_ID

  /** The id of a new request. */
  add(answered: (response: Json) => void): number {
    const id = this.#next++
    this.#waiting.set(id, answered)
    return id
  }

  /** Handles an answer. Returns false when nothing waits for it. */
  answer(response: Json): boolean {
    const id = asNumber(response['id'])
    if (id === undefined) return false
    const answered = this.#waiting.get(id)
    if (!answered) return this.#forgotten.delete(id)
    this.#waiting.delete(id)
    answered(response)
    return true
  }

  /** Answers a request whose answer cannot come any more. */
  fail(id: number, message: string): void {
    if (this.#waiting.has(id)) this.answer({ id, error: { message } })
  }

  /** Answers all that wait. */
  failAll(message: string): void {
    for (const id of this.#waiting.keys()) this.fail(id, message)
  }

  /** Drops a request whose answer may still come. */
  forget(id: number): void {
    if (!this.#waiting.delete(id)) return
    if (this.#forgotten.size >= MAX_FORGOTTEN) this.#forgotten.clear()
    this.#forgotten.add(id)
  }

  /** At an idle point: no turn runs, so that what waits is forgotten soon. */
  facts(): CallsFacts {
    return { next: this.#next, forgotten: [...this.#forgotten, ...this.#waiting.keys()] }
  }

  /** Goes on after an earlier host, with ids that it has not used. */
  resume({ next, forgotten }: CallsFacts, { requests }: EarlierHost): void {
    this.#next = Math.max(next, ...requests.map(({ id }) => id + 1))
    for (const id of forgotten) this.#forgotten.add(id)
  }

  /** Waits for the answer to a request of an earlier host. */
  expect(id: number, answered: (response: Json) => void): void {
    this.#waiting.set(id, answered)
  }
}

import type { Clock, Timer } from '@agentproto/contracts'
import { KEEP_ALIVE_MS, type Reply } from './call-frame.js'

/** Sends one answer. */
export type Respond = (reply: Reply, body?: Uint8Array) => void

const NOTHING = new Uint8Array()

/** Something that a peer waits for: a call, one read of a reader, or that a piece of text was taken. Its last message is answered. */
export class OpenCall {
  readonly #clock: Clock
  readonly #partBytes: number
  #outcome: Uint8Array | undefined
  #respond: Respond | undefined
  #timer: Timer | undefined
  /** When it was asked for last, and when it was finished; milliseconds since the epoch. */
  askedAt: number
  finishedAt: number | undefined

  constructor({ clock, partBytes }: { readonly clock: Clock; readonly partBytes: number }) {
    this.#clock = clock
    this.#partBytes = partBytes
    this.askedAt = clock.now()
  }

  get bytes(): number {
    return this.#outcome?.length ?? 0
  }

  get isFinished(): boolean {
    return this.#outcome !== undefined
  }

  /** Answers when it is finished, or says after a while that it is not. An earlier message that waits is not answered any more. */
  answer(respond: Respond): void {
    this.askedAt = this.#clock.now()
    this.#timer?.cancel()
    if (this.#outcome !== undefined) return this.#send(respond, this.#outcome)
    this.#respond = respond
    this.#timer = this.#clock.after(KEEP_ALIVE_MS, () => {
      this.#respond = undefined
      respond({ state: 'pending' })
    })
  }

  finish(outcome: Uint8Array): void {
    this.#outcome = outcome
    this.finishedAt = this.#clock.now()
    this.#timer?.cancel()
    const respond = this.#respond
    this.#respond = undefined
    if (respond !== undefined) this.#send(respond, outcome)
  }

  part(at: number): Uint8Array | undefined {
    const from = at * this.#partBytes
    return this.#outcome !== undefined && from < this.#outcome.length
      ? this.#outcome.subarray(from, from + this.#partBytes)
      : undefined
  }

  /** No message of it is answered any more. */
  drop(): void {
    this.#timer?.cancel()
    this.#respond = undefined
  }

  #send(respond: Respond, outcome: Uint8Array): void {
    const parts = Math.max(1, Math.ceil(outcome.length / this.#partBytes))
    respond({ state: 'done', parts, bytes: outcome.length }, this.part(0) ?? NOTHING)
  }
}

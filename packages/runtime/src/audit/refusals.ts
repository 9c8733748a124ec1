import { type Clock, type ErrorCode, type Principal, traceIdOf } from '@agentproto/contracts'
import type { Log } from './noted.js'

/** Somebody who was turned away before any service was asked. */
export interface Refusal {
  readonly code: ErrorCode
  readonly by?: Principal
  readonly method?: string
  readonly path?: string
  readonly from?: string
  readonly tool?: string
}

/** Lines of one window; more are counted and told in one line when the next window begins, or at the end. */
const BURST = 10
const WINDOW_MS = 60_000
const MAX_CHARS = 200

/** Writes who was refused, of so many lines that whoever knocks for ever cannot fill the disk with it. */
export class Refusals {
  readonly #log: Log
  readonly #clock: Clock
  #since = -Infinity
  #count = 0

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  note({ code: outcome, by, method, path, from, tool }: Refusal): void {
    const now = this.#clock.now()
    if (now - this.#since >= WINDOW_MS) {
      this.close()
      this.#since = now
    }
    if (++this.#count > BURST) return
    const principal = by === undefined ? undefined : { type: by.type, name: by.name }
    const traceId = by?.trace && traceIdOf(by.trace)
    const what = { method, path: path?.slice(0, MAX_CHARS), tool: tool?.slice(0, MAX_CHARS), from }
    this.#log.write({ kind: 'refused', outcome, principal, ...what, traceId })
  }

  /** Tells what was counted and not written. */
  close(): void {
    const repeated = this.#count - BURST
    this.#count = 0
    if (repeated > 0) this.#log.write({ kind: 'refused', repeated, since: new Date(this.#since).toISOString() })
  }
}

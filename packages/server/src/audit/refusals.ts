import { type Clock, type ErrorCode, type Principal, traceIdOf } from '@agentproto/contracts'
import type { AuditWriter } from './audit-log.js'

/** A request that was rejected before any service was called. */
export interface Refusal {
  readonly code: ErrorCode
  readonly by?: Principal
  readonly method?: string
  readonly path?: string
  readonly from?: string
  readonly tool?: string
}

/** Lines of one window; more are counted, and the count is one line at the start of the next window or at the end. */
const BURST = 10
const WINDOW_MS = 60_000
const MAX_CHARS = 200

/** Records who was rejected, with a limit on lines: an attacker cannot fill the disk with them. */
export class Refusals {
  readonly #log: AuditWriter
  readonly #clock: Clock
  #since = -Infinity
  #count = 0

  constructor(log: AuditWriter, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  record({ code: outcome, by, method, path, from, tool }: Refusal): void {
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

  /** Writes how many were counted without a line. */
  close(): void {
    const repeated = this.#count - BURST
    this.#count = 0
    if (repeated > 0) this.#log.write({ kind: 'refused', repeated, since: new Date(this.#since).toISOString() })
  }
}

import type { Clock } from '@agentproto/contracts'
import type { NatsConnection } from '@nats-io/transport-node'
import { Backoff } from '../cluster/backoff.js'
import { until } from '../cluster/until.js'

/**
 * Whether NATS answers, asked once for all sessions. While it does not, nothing may be published: the client keeps what it
 * cannot send, so that each attempt would stay in memory.
 */
export class Reachable {
  readonly #nats: NatsConnection
  readonly #clock: Clock
  readonly #closing: AbortSignal
  #waiting: Promise<void> | undefined

  constructor(nats: NatsConnection, clock: Clock, closing: AbortSignal) {
    this.#nats = nats
    this.#clock = clock
    this.#closing = closing
  }

  /** Resolves when a server has answered, or when `signal` aborts. */
  async wait(signal: AbortSignal): Promise<void> {
    this.#waiting ??= this.#ask().finally(() => (this.#waiting = undefined))
    await until(signal, this.#waiting)
  }

  async #ask(): Promise<void> {
    const backoff = new Backoff(this.#clock)
    while (!this.#closing.aborted && !this.#nats.isClosed()) {
      // Rejected when the connection is lost; a frozen server is found out by the client's own pings.
      const answered = await this.#nats.rtt().then(
        () => true,
        () => false,
      )
      if (answered) return
      await backoff.wait(this.#closing)
    }
  }
}

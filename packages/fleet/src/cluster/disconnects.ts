import type { NatsConnection } from '@nats-io/transport-node'

/** Calls back when the connection to the NATS servers is lost; one watch for all readers. */
export class Disconnects {
  readonly #listeners = new Set<() => void>()

  constructor(nats: NatsConnection) {
    void this.#watch(nats)
  }

  /** @returns stops it */
  on(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Ends with the connection. */
  async #watch(nats: NatsConnection): Promise<void> {
    for await (const { type } of nats.status())
      if (type === 'disconnect') for (const listener of this.#listeners) listener()
  }
}

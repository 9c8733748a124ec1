/** Ids of closed sessions that are kept, because the agent may still send updates of them. */
const MAX_CLOSED = 1_000
/** How many of them a later host is given. */
const MAX_CLOSED_KEPT = 100

/** The agent's ids of sessions that were closed. */
export class ClosedSessions {
  readonly #ids = new Set<string>()

  /** Those that were closed last. */
  get last(): readonly string[] {
    return [...this.#ids].slice(-MAX_CLOSED_KEPT)
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string): void {
    if (this.#ids.size >= MAX_CLOSED) this.#ids.clear()
    this.#ids.add(id)
  }

  delete(id: string): void {
    this.#ids.delete(id)
  }
}

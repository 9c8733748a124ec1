import { AGENT_BOUNDS } from './agent-bounds.js'

/** The agent's ids of sessions that were closed. */
export class ClosedSessions {
  readonly #ids = new Set<string>()

  /** Those that were closed last. */
  get last(): readonly string[] {
    return [...this.#ids].slice(-AGENT_BOUNDS.closedSessionsKept)
  }

  has(id: string): boolean {
    return this.#ids.has(id)
  }

  add(id: string): void {
    if (this.#ids.size >= AGENT_BOUNDS.closedSessions) this.#ids.clear()
    this.#ids.add(id)
  }

  delete(id: string): void {
    this.#ids.delete(id)
  }
}

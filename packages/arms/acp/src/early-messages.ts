import type { AgentNotice, Json } from '@agentproto/contracts'

/** Updates and notices that are kept until a session is open. */
const MAX_EARLY = 1_000

/** What an agent sends before the session is open that it belongs to: updates may come before the answer that names it. */
export class EarlyMessages {
  readonly #deliver: (params: Json) => void
  /** How many sessions are being opened. */
  #opening = 0
  #updates: Json[] = []
  #notices: AgentNotice[] = []

  /** @param deliver gets each update that was kept, once it may belong to a session */
  constructor(deliver: (params: Json) => void) {
    this.#deliver = deliver
  }

  /** So many more sessions are being opened. */
  opening(count: number): void {
    this.#opening += count
  }

  /** One of them is open, or failed. Returns whether it was the last. */
  opened(): boolean {
    if (--this.#opening !== 0) return false
    this.deliver()
    return true
  }

  /** Keeps an update of an unknown session. Returns whether it may belong to one that is being opened. */
  keepUpdate(params: Json): boolean {
    if (this.#opening <= 0 || this.#updates.length >= MAX_EARLY) return false
    this.#updates.push(params)
    return true
  }

  keepNotice(notice: AgentNotice): void {
    if (this.#notices.length < MAX_EARLY) this.#notices.push(notice)
  }

  takeNotices(): readonly AgentNotice[] {
    return this.#notices.splice(0)
  }

  deliver(): void {
    const early = this.#updates
    this.#updates = []
    for (const params of early) this.#deliver(params)
  }
}

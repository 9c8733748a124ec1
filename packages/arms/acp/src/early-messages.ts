import type { AgentNotice, Json } from '@agentproto/contracts'
import { AGENT_BOUNDS } from './agent-bounds.js'

/** What an agent sends before the session is open that it belongs to: updates may come before the answer that names it. */
export class EarlyMessages {
  readonly #deliver: (params: Json) => void
  /** How many sessions are being opened. */
  #opening = 0
  #updates: Json[] = []
  #notices: AgentNotice[] = []
  readonly #chars = { updates: 0, notices: 0 }

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
    if (this.#opening <= 0 || this.#updates.length >= AGENT_BOUNDS.earlyMessages || !this.#fits('updates', params))
      return false
    this.#updates.push(params)
    return true
  }

  keepNotice(notice: AgentNotice): void {
    if (this.#notices.length < AGENT_BOUNDS.earlyMessages && this.#fits('notices', notice)) this.#notices.push(notice)
  }

  takeNotices(): readonly AgentNotice[] {
    this.#chars.notices = 0
    return this.#notices.splice(0)
  }

  deliver(): void {
    const early = this.#updates
    this.#updates = []
    this.#chars.updates = 0
    for (const params of early) this.#deliver(params)
  }

  /** Whether there is room for one more, which is taken then. After one that did not fit there is none: it would leave a gap. */
  #fits(kind: 'updates' | 'notices', message: object): boolean {
    if (this.#chars[kind] >= AGENT_BOUNDS.earlyChars) return false
    this.#chars[kind] += JSON.stringify(message).length
    return this.#chars[kind] <= AGENT_BOUNDS.earlyChars
  }
}

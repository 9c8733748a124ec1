import { isLive, type Session } from '@agentproto/contracts'

interface NoteFeedOptions {
  /** Reads what a session asks or wrote last. */
  readonly read: (session: Session) => Promise<string | undefined>
  readonly onNote: (id: string, note: string | undefined) => void
}

/** At most this many are read at the same time. */
const MAX_READS = 8

/** What the visible sessions ask or wrote last: read again only for those that changed, one read at a time for each. */
export class NoteFeed {
  readonly #options: NoteFeedOptions
  readonly #changed = new Set<string>()
  readonly #reading = new Set<string>()

  constructor(options: NoteFeedOptions) {
    this.#options = options
  }

  /** Learns of a session that changed. @param before Undefined for a new one */
  changed(session: Session, before: Session | undefined): void {
    const isOther =
      before === undefined ||
      before.lastOutputAt !== session.lastOutputAt ||
      before.state !== session.state ||
      before.pendingRequests !== session.pendingRequests
    if (isLive(session) && isOther) this.#changed.add(session.id)
  }

  /** Reads those of the sessions that changed. Called often. */
  refresh(visible: readonly Session[]): void {
    for (const session of visible) {
      if (this.#reading.size >= MAX_READS) return
      if (this.#changed.has(session.id) && !this.#reading.has(session.id)) void this.#read(session)
    }
  }

  async #read(session: Session): Promise<void> {
    const { id } = session
    this.#changed.delete(id)
    this.#reading.add(id)
    try {
      this.#options.onNote(id, await this.#options.read(session))
    } finally {
      this.#reading.delete(id)
    }
  }
}

import type { SessionStore, StoredSession } from '@agentproto/contracts'

/** Records that end with their process: for one-shot runs and for tests. */
export class MemorySessionStore implements SessionStore {
  readonly #records = new Map<string, StoredSession>()

  load(): Promise<{ sessions: readonly StoredSession[]; problems: readonly string[] }> {
    return Promise.resolve({ sessions: [...this.#records.values()].sort(byStart), problems: [] })
  }

  save(record: StoredSession): Promise<void> {
    this.#records.set(record.session.id, structuredClone(record))
    return Promise.resolve()
  }

  delete(sessionId: string): Promise<void> {
    this.#records.delete(sessionId)
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

const byStart = ({ session: a }: StoredSession, { session: b }: StoredSession): number =>
  a.startedAt < b.startedAt ? -1 : a.startedAt > b.startedAt ? 1 : 0

import { AgentprotoError } from '@agentproto/contracts'
import type { SessionStore, StoredSession } from '@agentproto/contracts/agent'
import { byStart } from './stored-session.js'

/** Records that live as long as their process: for one-shot runs and tests. The next host opens them with `load`. */
export class MemorySessionStore implements SessionStore {
  readonly #records = new Map<string, StoredSession>()
  #closed = false

  load(): Promise<{ sessions: readonly StoredSession[]; problems: readonly string[] }> {
    this.#closed = false
    return Promise.resolve({ sessions: [...this.#records.values()].sort(byStart), problems: [] })
  }

  async save(record: StoredSession): Promise<void> {
    this.#assertOpen()
    this.#records.set(record.session.id, structuredClone(record))
  }

  async delete(sessionId: string): Promise<void> {
    this.#assertOpen()
    this.#records.delete(sessionId)
  }

  close(): Promise<void> {
    this.#closed = true
    return Promise.resolve()
  }

  #assertOpen(): void {
    if (this.#closed) throw new AgentprotoError('shutting_down', 'The session store is closed')
  }
}

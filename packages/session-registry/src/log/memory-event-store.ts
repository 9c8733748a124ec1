import { AgentprotoError } from '@agentproto/contracts'
import type { EventBatch, EventRecord, EventStore, StoredLog } from '@agentproto/contracts/agent'

/** A log that lives as long as its process: for one-shot runs and tests. At its bound the oldest events are dropped. */

const MAX_CHARS = 64 * 1024 * 1024

export class MemoryEventStore implements EventStore {
  readonly #logs = new Map<string, MemoryStoredLog>()
  readonly #maxChars: number

  /** @param maxChars bound of one session's log, in characters */
  constructor({ maxChars = MAX_CHARS }: { readonly maxChars?: number } = {}) {
    this.#maxChars = maxChars
  }

  open(sessionId: string): Promise<{ log: StoredLog; repairs: readonly string[] }> {
    const log = this.#logs.get(sessionId) ?? new MemoryStoredLog(this.#maxChars)
    this.#logs.set(sessionId, log)
    return Promise.resolve({ log: new OpenedLog(log), repairs: [] })
  }

  delete(sessionId: string): Promise<void> {
    this.#logs.delete(sessionId)
    return Promise.resolve()
  }
}

/** The log as one host has it open. */
class OpenedLog implements StoredLog {
  readonly #log: MemoryStoredLog
  #closed = false

  constructor(log: MemoryStoredLog) {
    this.#log = log
  }

  get lastSeq(): number {
    return this.#log.lastSeq
  }

  append(batch: readonly EventRecord[]): Promise<void> {
    if (!this.#closed) return this.#log.append(batch)
    return Promise.reject(new AgentprotoError('storage_failed', 'The event log is closed'))
  }

  read(after: number, limit: number): Promise<EventBatch> {
    return this.#closed ? Promise.resolve({ records: [] }) : this.#log.read(after, limit)
  }

  close(): Promise<void> {
    this.#closed = true
    return Promise.resolve()
  }
}

class MemoryStoredLog {
  #records: EventRecord[] = []
  #dropped = 0
  #chars = 0
  readonly #maxChars: number

  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  get lastSeq(): number {
    return this.#dropped + this.#records.length
  }

  append(batch: readonly EventRecord[]): Promise<void> {
    if (batch[0] !== undefined && batch[0].seq !== this.lastSeq + 1) {
      return Promise.reject(
        new AgentprotoError('storage_failed', 'A batch does not follow the log', {
          given: batch[0].seq,
          expected: `seq ${this.lastSeq + 1}`,
        }),
      )
    }
    for (const { seq, type, json } of batch) {
      this.#records.push({ seq, type, json })
      this.#chars += json.length
    }
    this.#trim()
    return Promise.resolve()
  }

  read(after: number, limit: number): Promise<EventBatch> {
    const from = Math.max(after, this.#dropped)
    const records = this.#records.slice(from - this.#dropped, from - this.#dropped + limit)
    const gap = after < this.#dropped ? { gap: { after, first: this.#dropped + 1 } } : {}
    return Promise.resolve({ records, ...gap })
  }

  #trim(): void {
    if (this.#chars <= this.#maxChars) return
    let drop = 0
    // A quarter at a time, so that a log at its bound is not sliced at each append.
    while (this.#chars > this.#maxChars * 0.75 && drop < this.#records.length - 1) {
      this.#chars -= this.#records[drop]?.json.length ?? 0
      drop += 1
    }
    this.#records = this.#records.slice(drop)
    this.#dropped += drop
  }
}

import { AgentprotoError } from '@agentproto/contracts'
import type { EventBatch, EventRecord, EventStore, StoredLog } from '@agentproto/contracts/agent'
import { isLost, outOfOrder } from './event-record.js'

/** A log that lives as long as its process: for one-shot runs and tests. At its bound the oldest events are dropped. */

const MAX_CHARS = 64 * 1024 * 1024

export class MemoryEventStore implements EventStore {
  readonly #logs = new Map<string, KeptLog>()
  readonly #maxChars: number

  /** @param maxChars bound of one session's log, in characters */
  constructor({ maxChars = MAX_CHARS }: { readonly maxChars?: number } = {}) {
    this.#maxChars = maxChars
  }

  open(sessionId: string): Promise<{ log: StoredLog; repairs: readonly string[] }> {
    const kept = this.#logs.get(sessionId) ?? { records: [], dropped: 0, chars: 0 }
    this.#logs.set(sessionId, kept)
    return Promise.resolve({ log: new MemoryStoredLog(kept, this.#maxChars), repairs: [] })
  }

  delete(sessionId: string): Promise<void> {
    this.#logs.delete(sessionId)
    return Promise.resolve()
  }
}

interface KeptLog {
  records: EventRecord[]
  dropped: number
  /** Characters of the records. */
  chars: number
}

/** The log as one host has it open. */
class MemoryStoredLog implements StoredLog {
  readonly #kept: KeptLog
  readonly #maxChars: number
  #closed = false

  constructor(kept: KeptLog, maxChars: number) {
    this.#kept = kept
    this.#maxChars = maxChars
  }

  get lastSeq(): number {
    return this.#kept.dropped + this.#kept.records.length
  }

  async append(batch: readonly EventRecord[]): Promise<void> {
    const [first] = batch
    if (this.#closed) throw new AgentprotoError('storage_failed', 'The event log is closed')
    if (first !== undefined && first.seq !== this.lastSeq + 1) throw outOfOrder(first.seq, this.lastSeq)
    for (const { seq, type, json } of batch) {
      this.#kept.records.push({ seq, type, json })
      this.#kept.chars += json.length
    }
    this.#trim()
  }

  read(after: number, limit: number): Promise<EventBatch> {
    const { records, dropped } = this.#kept
    if (this.#closed) return Promise.resolve({ records: [] })
    let from = Math.max(after - dropped, 0)
    for (let record = records[from]; record !== undefined && isLost(record); record = records[from]) from += 1
    const page = records.slice(from, from + limit)
    const lost = page.findIndex(isLost)
    const first = page[0]?.seq ?? this.lastSeq + 1
    const gap = first > after + 1 ? { gap: { after, first } } : {}
    return Promise.resolve({ records: lost < 0 ? page : page.slice(0, lost), ...gap })
  }

  close(): Promise<void> {
    this.#closed = true
    return Promise.resolve()
  }

  #trim(): void {
    const kept = this.#kept
    if (kept.chars <= this.#maxChars) return
    let drop = 0
    // A quarter at a time, so that a log at its bound is not sliced at each append.
    while (kept.chars > this.#maxChars * 0.75 && drop < kept.records.length - 1) {
      kept.chars -= kept.records[drop]?.json.length ?? 0
      drop += 1
    }
    kept.records = kept.records.slice(drop)
    kept.dropped += drop
  }
}

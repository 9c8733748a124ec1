import type { EventRecord } from '@agentproto/contracts'

/**
 * The last events of a session in memory, so that readers that keep up never touch the disk. Kept small and
 * as serialised text alone: what stays here outlives young garbage collections, in every session at once.
 */

const MAX_RECORDS = 512
const MAX_CHARS = 128 * 1024

export class EventWindow {
  /** Whole batches, as they were stored: a reader that keeps up is handed one as it is. */
  #batches: (readonly EventRecord[])[] = []
  #records = 0
  #chars = 0

  /** Sequence number of the oldest event that is here; undefined when there is none. */
  get firstSeq(): number | undefined {
    return this.#batches[0]?.[0]?.seq
  }

  push(batch: readonly EventRecord[]): void {
    this.#batches.push(batch)
    this.#records += batch.length
    this.#chars += charsOf(batch)
    // The newest batch stays whatever its size, so that a reader that keeps up is served from here.
    while (this.#batches.length > 1 && (this.#records > MAX_RECORDS || this.#chars > MAX_CHARS)) {
      const dropped = this.#batches.shift() ?? []
      this.#records -= dropped.length
      this.#chars -= charsOf(dropped)
    }
  }

  /** Up to `limit` events after `after`, of one batch; undefined when the window does not reach back that far. */
  after(after: number, limit: number): readonly EventRecord[] | undefined {
    const first = this.firstSeq
    if (first === undefined || after < first - 1) return undefined
    for (let i = this.#batches.length - 1; i >= 0; i -= 1) {
      const batch = this.#batches[i] ?? []
      const from = after + 1 - (batch[0]?.seq ?? Infinity)
      if (from < 0) continue
      // Beyond its end: everything has been read.
      if (from >= batch.length) return []
      return from === 0 && batch.length <= limit ? batch : batch.slice(from, from + limit)
    }
    return []
  }
}

const charsOf = (batch: readonly EventRecord[]): number => batch.reduce((sum, { json }) => sum + json.length, 0)

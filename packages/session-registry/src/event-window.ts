import type { LiveRecord } from './event-record.js'

/** The last events of a session in memory, so that readers that keep up never touch the disk. */

const MAX_RECORDS = 2_048
const MAX_CHARS = 512 * 1024

export class EventWindow {
  #records: LiveRecord[] = []
  #head = 0
  #chars = 0

  /** Sequence number of the oldest event that is here; undefined when there is none. */
  get firstSeq(): number | undefined {
    return this.#records[this.#head]?.seq
  }

  push(batch: readonly LiveRecord[]): void {
    for (const record of batch) {
      this.#records.push(record)
      this.#chars += record.json.length
    }
    this.#trim()
  }

  /** Events after `after`, or undefined when the window does not reach back that far. */
  after(after: number, limit: number): readonly LiveRecord[] | undefined {
    const first = this.firstSeq
    if (first === undefined || after < first - 1) return undefined
    const from = this.#head + (after - first + 1)
    return this.#records.slice(from, from + limit)
  }

  #trim(): void {
    // The newest record stays whatever its size, so that a reader that keeps up is served from here.
    while (this.#head < this.#records.length - 1 && this.#isOver()) {
      this.#chars -= this.#records[this.#head]?.json.length ?? 0
      this.#head += 1
    }
    // Compacting at half keeps the cost of a drop constant on average.
    if (this.#head > MAX_RECORDS && this.#head * 2 > this.#records.length) {
      this.#records = this.#records.slice(this.#head)
      this.#head = 0
    }
  }

  #isOver(): boolean {
    return this.#chars > MAX_CHARS || this.#records.length - this.#head > MAX_RECORDS
  }
}

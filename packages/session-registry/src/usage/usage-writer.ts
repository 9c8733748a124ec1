import { messageOf } from '../lifecycle/ending.js'
import type { UsageRow, UsageStore } from './usage-row.js'

export interface UsageWriterOptions {
  readonly usage: UsageStore
  readonly onProblem: (problem: string) => void
}

/** Rows that wait for a store that fails; the oldest is dropped beyond it. */
const MAX_PENDING = 10_000

/**
 * Stores rows in order, since a session whose later turn is stored counts as stored up to it. What fails is reported, and
 * tried again with the next row.
 */
export class UsageWriter {
  readonly #options: UsageWriterOptions
  #pending: UsageRow[] = []
  #storing: Promise<void> = Promise.resolve()

  constructor(options: UsageWriterOptions) {
    this.#options = options
  }

  add(row: UsageRow): void {
    this.#pending.push(row)
    if (this.#pending.length > MAX_PENDING) this.#pending.shift()
    this.#storing = this.#storing.then(() => this.#storePending())
  }

  /** Of some days, both included; with those that wait. @throws `storage_failed` */
  async *rows(from: string, to: string): AsyncGenerator<readonly UsageRow[]> {
    await this.#storing
    const pending = this.#pending.filter(({ day }) => day >= from && day <= to)
    yield* this.#options.usage.rows(from, to)
    yield pending
  }

  async close(): Promise<void> {
    await this.#storing
    await this.#options.usage.close()
  }

  async #storePending(): Promise<void> {
    try {
      for (let [row] = this.#pending; row !== undefined; [row] = this.#pending) {
        await this.#options.usage.add(row)
        if (this.#pending[0] === row) this.#pending.shift()
      }
    } catch (error) {
      this.#options.onProblem(messageOf(error))
    }
  }
}

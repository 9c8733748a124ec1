import type { Clock, Timer } from '@agentproto/contracts'
import { messageOf } from '../lifecycle/ending.js'
import type { UsageRow, UsageStore } from './usage-row.js'

export interface UsageWriterOptions {
  readonly usage: UsageStore
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
}

/** Rows that wait for a store that fails; the oldest is dropped beyond it. */
const MAX_PENDING = 10_000
/** Rows are collected into one write. A crash before it loses nothing: the next host counts the turns from their logs. */
const COLLECT_MS = 100

/**
 * Stores rows in order, since a session whose later turn is stored counts as stored up to it. What fails is reported, and
 * tried again with the next row.
 */
export class UsageWriter {
  readonly #options: UsageWriterOptions
  #pending: UsageRow[] = []
  #timer: Timer | undefined
  #storing: Promise<void> = Promise.resolve()

  constructor(options: UsageWriterOptions) {
    this.#options = options
  }

  add(row: UsageRow): void {
    this.#pending.push(row)
    if (this.#pending.length > MAX_PENDING) this.#pending.shift()
    this.#timer ??= this.#options.clock.after(COLLECT_MS, () => void this.#flush())
  }

  /** Of some days, both included; with those that cannot be stored. @throws `storage_failed` */
  async *rows(from: string, to: string): AsyncGenerator<readonly UsageRow[]> {
    await this.#flush()
    const pending = this.#pending.filter(({ day }) => day >= from && day <= to)
    yield* this.#options.usage.rows(from, to)
    yield pending
  }

  async close(): Promise<void> {
    await this.#flush()
    await this.#options.usage.close()
  }

  /** Stores what was collected. What a store has refused waits for the next row. */
  #flush(): Promise<void> {
    if (this.#timer !== undefined) {
      this.#timer.cancel()
      this.#timer = undefined
      this.#storing = this.#storing.then(() => this.#storePending())
    }
    return this.#storing
  }

  async #storePending(): Promise<void> {
    try {
      for (let rows = this.#ofFirstDay(); rows.length > 0; rows = this.#ofFirstDay()) {
        await this.#options.usage.add(rows)
        const stored = new Set(rows)
        // Meanwhile rows may have been added, and the oldest dropped.
        this.#pending = this.#pending.filter((row) => !stored.has(row))
      }
    } catch (error) {
      this.#options.onProblem(messageOf(error))
    }
  }

  /** Up to the first row of another day. */
  #ofFirstDay(): readonly UsageRow[] {
    const end = this.#pending.findIndex(({ day }) => day !== this.#pending[0]?.day)
    return this.#pending.slice(0, end < 0 ? undefined : end)
  }
}

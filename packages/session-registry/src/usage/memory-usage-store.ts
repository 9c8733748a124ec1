import type { UsageRow, UsageStore } from './usage-row.js'

/** Usage that ends with its registry. */
export class MemoryUsageStore implements UsageStore {
  #rows: UsageRow[] = []

  open(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  add(rows: readonly UsageRow[]): Promise<void> {
    for (const row of rows) this.#rows.push(row)
    if (this.#rows.length > MAX_ROWS) this.#rows = this.#rows.slice(-MAX_ROWS / 2)
    return Promise.resolve()
  }

  async *rows(from: string, to: string): AsyncGenerator<readonly UsageRow[]> {
    yield this.#rows.filter(({ day }) => day >= from && day <= to)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

/** The older half is forgotten beyond it. */
const MAX_ROWS = 100_000

import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'

/** Rows that wait, such as while a pager is open; the oldest go first. */
const MAX_ROWS = 50_000

/** Rows that are final and not yet drawn. */
export class FinishedRows {
  #rows: string[] = []
  #leftOut = 0

  add(rows: readonly string[]): void {
    for (const row of rows) this.#rows.push(row)
    if (this.#rows.length <= MAX_ROWS) return
    const over = this.#rows.length - MAX_ROWS / 2
    this.#leftOut += over
    this.#rows = this.#rows.slice(over)
  }

  /** The rows since the last call, and how many of them are left out. */
  take({ paint, width }: Frame): readonly string[] {
    const leftOut = `… ${this.#leftOut} rows are left out; PageUp shows the whole log`
    const rows = this.#leftOut === 0 ? this.#rows : [paint.dim(cut(leftOut, width)), ...this.#rows]
    this.#rows = []
    this.#leftOut = 0
    return rows
  }
}

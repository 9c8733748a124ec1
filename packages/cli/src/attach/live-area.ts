import type { Output } from '../io.js'
import { columnsOf } from '../render/fit.js'

export interface LiveRows {
  readonly rows: readonly string[]
  /** Where the cursor is shown; hidden without it. */
  readonly cursor?: { readonly row: number; readonly column: number }
}

const ESC = '\u001B['
/** Terminals that know it draw what is between the two at once; the others ignore it. */
const SYNC_ON = `${ESC}?2026h`
const SYNC_OFF = `${ESC}?2026l`
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`

/**
 * The lowest rows of a terminal, drawn anew as often as needed, while finished rows go above them into the
 * scroll-back for good.
 */
export class LiveArea {
  readonly #output: Output
  #rows: readonly string[] = []
  #cursorRow = 0
  #drawn = ''

  constructor(output: Output) {
    this.#output = output
  }

  /** Adds finished rows and draws the live ones below them, in one write; none when nothing has changed. */
  draw(finished: readonly string[], { rows, cursor }: LiveRows): void {
    const picture = JSON.stringify([rows, cursor, this.#output.columns])
    if (finished.length === 0 && picture === this.#drawn) return
    this.#drawn = picture
    const above = finished.map((row) => `${row}\n`).join('')
    const place = cursor === undefined ? HIDE_CURSOR : this.#moveTo(rows, cursor) + SHOW_CURSOR
    this.#output.write(SYNC_ON + HIDE_CURSOR + this.#erase() + above + rows.join('\n') + place + SYNC_OFF)
    this.#rows = rows
    this.#cursorRow = cursor?.row ?? Math.max(0, rows.length - 1)
  }

  /** Takes the live rows away and gives the cursor back. */
  close(finished: readonly string[] = []): void {
    this.#output.write(this.#erase() + finished.map((row) => `${row}\n`).join('') + SHOW_CURSOR)
    this.#rows = []
    this.#cursorRow = 0
    this.#drawn = ''
  }

  /** To the first live row, and everything below it away. A terminal made narrower has wrapped what was drawn. */
  #erase(): string {
    const width = this.#output.columns ?? 80
    const heights = this.#rows.map((row) => Math.max(1, Math.ceil(columnsOf(row) / width)))
    const up = heights.slice(0, this.#cursorRow).reduce((sum, height) => sum + height, 0)
    return `\r${up > 0 ? `${ESC}${up}A` : ''}${ESC}J`
  }

  #moveTo(rows: readonly string[], { row, column }: { readonly row: number; readonly column: number }): string {
    const up = rows.length - 1 - row
    return `\r${up > 0 ? `${ESC}${up}A` : ''}${column > 0 ? `${ESC}${column}C` : ''}`
  }
}

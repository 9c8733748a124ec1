import { type Output, raw } from '../cli-context.js'
import { joinedColumnsOf } from '../render/fit.js'
import { visible } from '../render/printable.js'

export interface LiveRows {
  readonly rows: readonly string[]
  /** Position of the cursor; hidden without it. */
  readonly cursor?: { readonly row: number; readonly column: number }
}

const ESC = '\u001B['
/** Synchronised update: terminals that support it draw everything in between at once; others ignore it. */
const SYNC_ON = `${ESC}?2026h`
const SYNC_OFF = `${ESC}?2026l`
const HIDE_CURSOR = `${ESC}?25l`
const SHOW_CURSOR = `${ESC}?25h`

/** The lowest rows of a terminal, which are redrawn. Finished rows go above them into the scroll-back. */
export class LiveArea {
  readonly #output: Output
  #rows: readonly string[] = []
  #cursorRow = 0
  #drawn = ''

  constructor(output: Output) {
    this.#output = output
  }

  /** Adds finished rows and draws the live ones below them, in one write; no write when nothing has changed. */
  draw(finished: readonly string[], { rows, cursor }: LiveRows): void {
    const picture = JSON.stringify([rows, cursor, this.#output.columns])
    if (finished.length === 0 && picture === this.#drawn) return
    this.#drawn = picture
    const above = finished.map((row) => `${visible(row)}\n`).join('')
    const place = cursor === undefined ? HIDE_CURSOR : this.#moveTo(rows, cursor) + SHOW_CURSOR
    raw(this.#output).write(SYNC_ON + HIDE_CURSOR + this.#erase() + above + visible(rows.join('\n')) + place + SYNC_OFF)
    this.#rows = rows
    this.#cursorRow = cursor?.row ?? Math.max(0, rows.length - 1)
  }

  /** Erases the live rows and shows the cursor. */
  close(finished: readonly string[] = []): void {
    raw(this.#output).write(this.#erase() + finished.map((row) => `${visible(row)}\n`).join('') + SHOW_CURSOR)
    this.#rows = []
    this.#cursorRow = 0
    this.#drawn = ''
  }

  /** Moves to the first live row and erases everything below. A narrowed terminal has wrapped the rows. */
  #erase(): string {
    const width = this.#output.columns || 80
    const heights = this.#rows.map((row) => Math.max(1, Math.ceil(joinedColumnsOf(row) / width)))
    const up = heights.slice(0, this.#cursorRow).reduce((sum, height) => sum + height, 0)
    return `\r${up > 0 ? `${ESC}${up}A` : ''}${ESC}J`
  }

  #moveTo(rows: readonly string[], { row, column }: { readonly row: number; readonly column: number }): string {
    const up = rows.length - 1 - row
    return `\r${up > 0 ? `${ESC}${up}A` : ''}${column > 0 ? `${ESC}${column}C` : ''}`
  }
}

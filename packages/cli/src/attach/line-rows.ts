import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { wrap } from '../render/wrap.js'
import type { HistorySearch } from './history-search.js'
import type { LineEditor } from './line-editor.js'
import type { LiveRows } from './live-area.js'

const PROMPT = '❯ '
const INDENT = '  '
const MAX_LINE_ROWS = 8
const MAX_NOTE_ROWS = 3

/** The line that is being typed, below other rows, in a terminal of so many rows. */
export function lineRows(
  editor: LineEditor,
  above: readonly string[],
  { paint, width, height }: Frame & { readonly height: number },
): LiveRows {
  const room = Math.max(1, Math.min(MAX_LINE_ROWS, Math.floor((height - above.length) / 2)))
  const { rows, cursor, lines } = editor.viewLines(width - PROMPT.length, room)
  const isCut = lines > rows.length
  const all = isCut ? [...above, paint.dim(cut(`${lines} lines, of which ${rows.length}:`, width))] : above
  return {
    rows: [...all, ...rows.map((row, index) => (index === 0 ? paint.bold(PROMPT) : INDENT) + row)],
    cursor: { row: all.length + cursor.row, column: PROMPT.length + cursor.column },
  }
}

export const noteRows = (note: string, { paint, width }: Frame): string[] =>
  wrap(oneLine(note), width)
    .slice(0, MAX_NOTE_ROWS)
    .map((row) => paint.yellow(row))

export function searchRow({ text, found }: HistorySearch, { paint, width }: Frame): string {
  const line = found ?? (text === '' ? '' : 'nothing found')
  return paint.yellow(cut(`search "${oneLine(text)}": ${oneLine(line.slice(0, 4 * width))}`, width))
}

/** A problem as rows of the transcript. */
export function warningRows(text: string, { paint, width }: Frame): string[] {
  const [first = '', ...rest] = wrap(oneLine(text), width - INDENT.length)
  return [`! ${first}`, ...rest.map((row) => INDENT + row)].map((row) => paint.yellow(row))
}

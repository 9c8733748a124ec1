import { columnsOf } from './fit.js'

/**
 * Breaks one line of plain text into rows of at most `width` columns, at spaces if possible. Every row but the last is
 * final: more text at the end does not change it.
 */
export function wrap(line: string, width: number): string[] {
  const limit = Math.max(width, 8)
  const rows: string[] = []
  let rest = line
  for (;;) {
    // A line may have a megabyte: only what can be on this row is measured.
    const head = rest.slice(0, 8 * limit)
    if (head.length === rest.length && columnsOf(rest) <= limit) return [...rows, rest]
    const end = breakAt(head, limit)
    rows.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).replace(/^ +/, '')
  }
}

/** Index after the last space that fits, or else after the last character that fits; never 0. */
function breakAt(text: string, limit: number): number {
  let used = 0
  let end = 0
  let space = 0
  for (const { segment, index } of new Intl.Segmenter().segment(text)) {
    used += columnsOf(segment)
    if (used > limit) {
      // A space just past the limit is a good place to break, too.
      if (segment === ' ') space = index
      break
    }
    end = index + segment.length
    if (segment === ' ') space = end
  }
  return space > 0 ? space : Math.max(end, 1)
}

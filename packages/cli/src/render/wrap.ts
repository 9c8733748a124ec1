import { columnsOf } from './fit.js'

/**
 * Breaks one line of plain text into rows of at most `width` columns, at blanks where there are any. A row
 * that is not the last can be printed for good: more text at the end does not change it.
 */
export function wrap(line: string, width: number): string[] {
  const limit = Math.max(width, 8)
  const rows: string[] = []
  let rest = line
  while (columnsOf(rest) > limit) {
    const end = breakAt(rest, limit)
    rows.push(rest.slice(0, end).trimEnd())
    rest = rest.slice(end).replace(/^ +/, '')
  }
  return [...rows, rest]
}

/** Index after the last blank that fits, or else after the last character that fits; never 0. */
function breakAt(text: string, limit: number): number {
  let used = 0
  let end = 0
  let blank = 0
  for (const { segment, index } of new Intl.Segmenter().segment(text)) {
    used += columnsOf(segment)
    if (used > limit) {
      // The blank that does not fit any more is a fine place to break, too.
      if (segment === ' ') blank = index
      break
    }
    end = index + segment.length
    if (segment === ' ') blank = end
  }
  return blank > 0 ? blank : Math.max(end, 1)
}

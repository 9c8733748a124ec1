/** A text with the places of its lines. */
export interface SourceText {
  readonly file: string
  readonly text: string
  /** Line and column, both from 1. */
  position(offset: number): { readonly line: number; readonly column: number }
  /** One line, without control characters, cut to 160 characters. */
  excerpt(line: number): string
}

const EXCERPT_CHARS = 160

export function createSourceText(text: string, file: string): SourceText {
  let starts: readonly number[] | undefined
  // Most files have no problem, and need no line table.
  const lineStarts = (): readonly number[] => (starts ??= findLineStarts(text))

  return {
    file,
    text,
    position(offset) {
      const line = lastAtOrBefore(lineStarts(), offset)
      return { line: line + 1, column: offset - (lineStarts()[line] ?? 0) + 1 }
    },
    excerpt(line) {
      const start = lineStarts()[line - 1] ?? text.length
      const raw = text.slice(start, Math.min(lineStarts()[line] ?? text.length, start + EXCERPT_CHARS + 1))
      const clean = raw.replace(/[\r\n]+$/, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f\ufeff]/g, '\ufffd')
      return clean.length > EXCERPT_CHARS ? `${clean.slice(0, EXCERPT_CHARS - 1)}…` : clean
    },
  }
}

function findLineStarts(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

function lastAtOrBefore(starts: readonly number[], offset: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

/** A text with the places of its lines. */
export interface SourceText {
  readonly file: string
  readonly text: string
  /** Line and column, both from 1. */
  position(offset: number): { readonly line: number; readonly column: number }
  /** The line at an offset, without control characters, cut to 160 characters. */
  excerpt(offset: number): string
}

const EXCERPT_CHARS = 160

export function createSourceText(text: string, file: string): SourceText {
  const lineStart = (offset: number): number => (offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1)
  return {
    file,
    text,
    position(offset) {
      let line = 1
      for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++
      return { line, column: offset - lineStart(offset) + 1 }
    },
    excerpt(offset) {
      const start = lineStart(offset)
      const line = /^[^\n]*/.exec(text.slice(start, start + EXCERPT_CHARS + 1))?.[0] ?? ''
      const clean = line.replace(/\r+$/, '').replace(/[\u0000-\u0008\u000b-\u001f\u007f\ufeff]/g, '\ufffd')
      return clean.length > EXCERPT_CHARS ? `${clean.slice(0, EXCERPT_CHARS - 1)}…` : clean
    },
  }
}

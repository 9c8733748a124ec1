/** A part of a long text. `continues`: its last line goes on in the next piece; otherwise a line end is between them. */
export interface Piece {
  readonly text: string
  readonly continues: boolean
}

/** In characters. A browser lays out a line of a million of them for seconds, and pieces out of view not at all. */
const MAX_PIECE = 4_000

/** All of a text, in pieces that end at the end of a line where they can. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = []
  let start = 0
  while (text.length - start > MAX_PIECE) {
    const lineEnd = text.lastIndexOf('\n', start + MAX_PIECE)
    const isAtLine = lineEnd > start
    const end = isAtLine ? lineEnd : wholeCharacter(text, start + MAX_PIECE)
    pieces.push({ text: text.slice(start, end), continues: !isAtLine })
    start = isAtLine ? end + 1 : end
  }
  return [...pieces, { text: text.slice(start), continues: false }]
}

/** The nearest place before `at` that is not inside of a character. */
function wholeCharacter(text: string, at: number): number {
  let end = at
  while (end > at - 32 && /^(?:\p{M}|\u200D|\uFE0F|[\uDC00-\uDFFF])/u.test(text.slice(end, end + 2))) end--
  return end
}

/** `Intl.Segmenter` takes quadratic time: a megabyte at once would take hours. */
const PIECE = 256

/** What a person sees as the characters of a text of any length. */
export function graphemes(text: string): string[] {
  // Nearly all text here is ASCII, which needs no segmentation.
  if (/^[\u0000-\u000C\u000E-\u007F]*$/.test(text)) return text.split('')
  const segmenter = new Intl.Segmenter()
  const all: string[] = []
  for (const piece of pieces(text)) for (const { segment } of segmenter.segment(piece)) all.push(segment)
  return all
}

/** Cut after a space or a newline if there is one, and never within a surrogate pair. */
function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    let end = Math.min(start + PIECE, text.length)
    if (end < text.length) end = cutBefore(text, start, end)
    yield text.slice(start, end)
    start = end
  }
}

function cutBefore(text: string, start: number, end: number): number {
  // In this piece alone: a word of a megabyte has its spaces far before it.
  const piece = text.slice(start, end - 1)
  const space = Math.max(piece.lastIndexOf(' '), piece.lastIndexOf('\n')) + 1
  // A mark after the space belongs to it.
  if (space > 0 && /[\u0000-\u007F]/.test(text[start + space] ?? '')) return start + space
  return /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') ? end - 1 : end
}

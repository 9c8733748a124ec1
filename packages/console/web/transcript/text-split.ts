import { fenceAfter } from './fence.js'

/** A growing text is closed at the end of a paragraph beyond this size: what is closed is never rendered again. */
const PARAGRAPH_CHARS = 1_500
/** And here at the end of a line, or anywhere in a text without lines. */
const LONGEST_CHARS = 6_000

/** Where a growing text is long enough to be divided; both parts together are the text, but for the empty line between them. */
export interface TextSplit {
  readonly closed: string
  readonly rest: string
}

/** @param fence the line that opened the block of code in which the text begins */
export function splitOf(text: string, fence: string | undefined): TextSplit | undefined {
  if (text.length < PARAGRAPH_CHARS) return undefined
  const paragraph = text.lastIndexOf('\n\n')
  if (paragraph > 0 && fenceAfter(text.slice(0, paragraph), fence) === undefined)
    return { closed: text.slice(0, paragraph), rest: text.slice(paragraph + 2) }
  if (text.length < LONGEST_CHARS) return undefined
  const line = text.lastIndexOf('\n', LONGEST_CHARS)
  return line > 0 ? { closed: text.slice(0, line), rest: text.slice(line + 1) } : { closed: text, rest: '' }
}

/** One event may bring a megabyte: it grows by pieces, as if it came in several events. No pair of surrogates is separated. */
export const growthPieces = (text: string): readonly string[] =>
  text.length <= LONGEST_CHARS ? [text] : (text.match(PIECE) ?? [])

const PIECE = new RegExp(`[^]{1,${LONGEST_CHARS / 2}}`, 'gu')

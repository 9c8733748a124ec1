import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'

/** The text, cut with an ellipsis to at most `width` columns. */
export function cut(text: string, width: number): string {
  if (columnsOf(text) <= width) return text
  if (width <= 0) return ''
  let kept = ''
  let used = 0
  for (const { segment } of SEGMENTS.segment(text)) {
    const next = columnsOf(segment)
    if (used + next > width - 1) break
    kept += segment
    used += next
  }
  return `${kept}…`
}

/** The text in exactly `width` columns. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const kept = cut(text, width)
  const blank = ' '.repeat(Math.max(0, width - columnsOf(kept)))
  return align === 'left' ? kept + blank : blank + kept
}

/**
 * The most columns that the text takes in any terminal, so that no row is wider than it. Some terminals draw the parts of a
 * joined emoji or of a syllable side by side, and a text of an agent may join thousands of them.
 */
export const columnsOf = (text: string): number => (isPlain(text) ? text.length : measured(text))

/** The columns in a terminal that joins what Unicode joins: where the cursor is, in a text that a person types. */
export const joinedColumnsOf = (text: string): number => (isPlain(text) ? text.length : stringWidth(text))

/** Plain ASCII: nearly all text here. */
const isPlain = (text: string): boolean => /^[\u0020-\u007E]*$/.test(text)

const SEGMENTS = new Intl.Segmenter()
/** A screen measures the same names again with every frame, and each takes much longer than to look it up. */
const known = new Map<string, number>()
const [MAX_KNOWN, MAX_CHARS] = [5_000, 500]

function measured(text: string): number {
  const found = known.get(text)
  if (found !== undefined) return found
  const columns = Math.max(stringWidth(text), columnsApart(text))
  if (known.size >= MAX_KNOWN) known.clear()
  if (text.length <= MAX_CHARS) known.set(text, columns)
  return columns
}

/** Each character for itself, with the mark that makes it a picture. */
function columnsApart(text: string): number {
  const parts = stripVTControlCharacters(text).match(/.\uFE0F?/gsu) ?? []
  return parts.reduce((sum, part) => sum + (isPlain(part) ? 1 : columnsOfCharacter(part)), 0)
}

const characters = new Map<string, number>()

function columnsOfCharacter(character: string): number {
  const found = characters.get(character)
  if (found !== undefined) return found
  const columns = stringWidth(character)
  if (characters.size >= MAX_KNOWN) characters.clear()
  characters.set(character, columns)
  return columns
}

import { columnsOf } from './fit.js'

/**
 * Text of an agent in front of a person who decides about it: nothing in it is left out, moved or invisible. What a terminal
 * would act on or not show is written as its code: controls, escape sequences, marks that reorder text, characters without
 * a width, blanks that are no spaces, half characters. Emoji stay.
 */
export const exact = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll('\t', '  ').replace(UNSEEN, code).replace(BLANKS, countedBlanks)

/** {@link exact} on one line: a newline is written as its code. */
export const exactLine = (text: string): string => exact(text).replaceAll('\n', code('\n'))

/**
 * Breaks one line into rows of at most `width` columns: at spaces where possible, and without losing any. The rows joined are
 * the line.
 */
export function wrapExact(line: string, width: number): string[] {
  if (line.length <= width && isSimple(line)) return [line]
  return piecesOf(line).flatMap((piece) => wrapPiece(piece, Math.max(width, MIN_WIDTH)))
}

const MIN_WIDTH = 8
/** A cluster of characters has no bound, so that a long line is broken into pieces first. */
const MAX_PIECE = 4_096

/** An emoji may be joined to another one, and be chosen as a picture: invisible characters that change what is shown. */
const UNSEEN =
  /(?![\n ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{4})\p{M}/gu
const IS_EMOJI_PART = /^(?:\u200D|\uFE0F)$/
const EMOJI_BEFORE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier})\uFE0F?$/u

/** A run of spaces that would push the rest out of sight. */
const BLANKS = / {40,}|\n(?: *\n){5,}/g

function code(char: string, ...[at, whole]: [number?, string?]): string {
  const before = whole?.slice(Math.max(0, (at ?? 0) - 4), at) ?? ''
  if (IS_EMOJI_PART.test(char) && EMOJI_BEFORE.test(before)) return char
  const hex = (char.codePointAt(0) ?? 0).toString(16)
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

function countedBlanks(run: string): string {
  if (!run.includes('\n')) return ` [${run.length} spaces] `
  return `\n[${run.split('\n').length - 2} empty lines]\n`
}

/** Latin, Greek and Cyrillic letters: one column each, none joined to another. Other text is measured part by part. */
const isSimple = (text: string): boolean =>
  /^[\u0020-\u007E\u00A1-\u00AC\u00AE-\u02FF\u0370-\u0482\u048A-\u052F]*$/.test(text)

function piecesOf(line: string): string[] {
  if (line.length <= MAX_PIECE || isSimple(line)) return [line]
  const pieces: string[] = []
  let start = 0
  while (start < line.length) {
    let end = Math.min(line.length, start + MAX_PIECE)
    // No character is cut in half.
    if (end < line.length && /[\uD800-\uDBFF]/.test(line[end - 1] ?? '')) end -= 1
    pieces.push(line.slice(start, end))
    start = end
  }
  return pieces
}

function wrapPiece(piece: string, width: number): string[] {
  return isSimple(piece) ? wrapSimple(piece, width) : wrapClusters(piece, width)
}

function wrapSimple(text: string, width: number): string[] {
  const rows: string[] = []
  let start = 0
  while (text.length - start > width) {
    // In this row alone: a word of a megabyte has its spaces far before it.
    const space = text.slice(start, start + width).lastIndexOf(' ')
    // A row that is much shorter than the others would look like the end of the text.
    const end = start + (space > width / 2 ? space + 1 : width)
    rows.push(text.slice(start, end))
    start = end
  }
  return [...rows, text.slice(start)]
}

function wrapClusters(text: string, width: number): string[] {
  const rows: string[] = []
  let row = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(text))
    for (const part of fittingParts(segment, width)) {
      const columns = columnsOfPart(part)
      if (used + columns > width) {
        rows.push(row)
        row = ''
        used = 0
      }
      row += part
      used += columns
    }
  return [...rows, row]
}

/** A cluster that is wider than a row would push the rows above it out of sight. */
const fittingParts = (cluster: string, width: number): readonly string[] =>
  columnsOfPart(cluster) <= width ? [cluster] : (cluster.match(/.\uFE0F?/gsu) ?? [])

const columnsOfPart = (part: string): number => (/^[\u4E00-\u9FFF\uAC00-\uD7A3]$/.test(part) ? 2 : columnsOf(part))

/** A line that opens or closes a block of code (CommonMark §4.5), also inside of a list. */
const FENCE_LINE = /^[ \t]*(?<marker>`{3,}|~{3,})(?<info>[^\n]*)$/gm

/**
 * The line that opened the block of code in which a text ends; undefined outside of code.
 * @param before the same of what comes before the text
 */
export function fenceAfter(text: string, before: string | undefined): string | undefined {
  let open = before
  for (const { groups } of text.matchAll(FENCE_LINE)) {
    const { marker = '', info = '' } = groups ?? {}
    if (open === undefined) open = isOpening(marker, info) ? `${marker}${info}` : undefined
    else if (info.trim() === '' && marker.startsWith(markerOf(open))) open = undefined
  }
  return open
}

/** Backticks with a further one in their line are code inside of a paragraph. */
const isOpening = (marker: string, info: string): boolean => marker.startsWith('~') || !info.includes('`')

const markerOf = (fence: string): string => /^(?:`+|~+)/.exec(fence)?.[0] ?? ''

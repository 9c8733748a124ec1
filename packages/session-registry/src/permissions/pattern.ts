import { sep } from 'node:path'

/**
 * Patterns of rules, matched in time that grows with their length only: a request must not be able to block its host. A backslash before `*`, `?` or itself stands for the character alone.
 */

/** Text that matches itself and nothing else. */
export const escapePattern = (text: string): string => text.replaceAll(/[\\*?]/g, String.raw`\$&`)

/** Whether an absolute path, links resolved, matches: `*` and `?` stay within one name, `**` stands for any names. */
export const matchesPath = (pattern: string, path: string): boolean =>
  matches(pattern.split('/'), path.split(sep), { isMany: (name) => name === '**', isOne: matchesName })

/** Whether the words match the pattern; a last `**` stands for any further words. */
export function matchesWords(pattern: string, words: readonly string[]): boolean {
  const wanted = patternWords(pattern)
  const last = wanted.length - 1
  return matches(
    wanted.map((word, index) => ({ word, rest: index === last && word === '**' })),
    words,
    { isMany: ({ rest }) => rest, isOne: ({ word }, given) => matchesName(word, given) },
  )
}

/** Whether the words of the pattern occur in sequence anywhere in these words. */
export function occursIn(pattern: string, words: readonly string[]): boolean {
  const wanted = patternWords(pattern).filter((word) => word !== '**')
  return words.some((_, from) => wanted.every((each, index) => matchesName(each, words[from + index] ?? '')))
}

/** Words are split at blanks, except within double quotes. */
export const patternWords = (pattern: string): readonly string[] =>
  Array.from(pattern.matchAll(/(?:"[^"]*"|[^\s"])+|"/g), ([word]) => word.replaceAll(/"([^"]*)"/g, '$1'))

const matchesName = (pattern: string, name: string): boolean =>
  matches(pattern.match(PIECES) ?? [], Array.from(name), {
    isMany: (piece) => piece === '*',
    isOne: (piece, char) => piece === '?' || (ESCAPED.test(piece) ? piece.slice(1) : piece) === char,
  })

/** An escaped character, or any one. */
const PIECES = /\\[\\*?]|./gsu

const ESCAPED = /^\\[\\*?]$/

interface Rules<P, T> {
  /** Stands for any number of items, none too. */
  readonly isMany: (piece: P) => boolean
  readonly isOne: (piece: P, item: T) => boolean
}

/** Whether the pieces stand for all of the items. Only the last `many` is ever reconsidered, which is enough. */
function matches<P, T>(pieces: readonly P[], items: readonly T[], { isMany, isOne }: Rules<P, T>): boolean {
  let piece = 0
  let item = 0
  let retry: { readonly piece: number; item: number } | undefined
  while (item < items.length) {
    const current = pieces[piece]
    if (current !== undefined && isMany(current)) {
      retry = { piece: ++piece, item }
    } else if (current !== undefined && isOne(current, items[item] as T)) {
      piece += 1
      item += 1
    } else if (retry === undefined) {
      return false
    } else {
      piece = retry.piece
      item = ++retry.item
    }
  }
  return pieces.slice(piece).every(isMany)
}

import { stripVTControlCharacters } from 'node:util'

/** Control characters, and those that are not shown or change the direction of others. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u
const HIDDEN_RUNS = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\s]+/gu

/** A text for people: on one line, without terminal escapes, cut to a number of characters. */
export function displayText(text: string, chars: number): string {
  // Cut first: the rest is not worth the work.
  const line = stripVTControlCharacters(text.slice(0, chars * 4))
    .replaceAll(HIDDEN_RUNS, ' ')
    .trim()
  const letters = Array.from(line)
  return letters.length <= chars
    ? line
    : `${letters
        .slice(0, chars - 1)
        .join('')
        .trimEnd()}…`
}

/** Whether a text has no character that a reader does not see. */
export const isHarmless = (text: string): boolean => !HIDDEN.test(text)

/** An https address without a user name and a password; undefined for any other text. */
export function httpsAddress(text: string): string | undefined {
  if (text.length > 2_048 || !isHarmless(text) || !URL.canParse(text)) return undefined
  const { protocol, username, password, href } = new URL(text)
  return protocol === 'https:' && username === '' && password === '' ? href : undefined
}

import { TOKEN_SHAPE } from '@agentproto/contracts'
import { encoded } from './encoded-digits.js'

/** A way in which a secret is printed, without white space. */
export interface SecretForm {
  /** The characters that are allowed at each position. */
  readonly chars: string | readonly string[]
  /** How many of them suffice if the text goes on differently. */
  readonly enough: number
}

/** A shorter value is indistinguishable from ordinary text. */
export const REDACTABLE_CHARS_MIN = 6

/** Long output is wrapped, and letters may be one a line. JSON writes a line break as `\n`, JSON in JSON as `\\n`. */
const GAP = /(?:\s|\\{1,4}[nrt]){0,8}/y

/** What {@link endOf} returns if the text ends before it is decided. */
export const OPEN = -1

/** Where the form ends that begins at a position; 0 if it does not. */
export function endOf({ chars, enough }: SecretForm, text: string, at: number): number {
  let end = at
  for (let index = 0; index < chars.length; index += 1) {
    const allowed = chars[index] ?? ''
    GAP.lastIndex = end
    const next = index === 0 || allowed.includes(text.charAt(end)) || !GAP.test(text) ? end : GAP.lastIndex
    if (next >= text.length) return OPEN
    if (!allowed.includes(text.charAt(next))) return index < enough ? 0 : end
    end = next + 1
  }
  return end
}

/** The forms by their first character, and where in a text one may begin. */
export function searchFor(forms: readonly SecretForm[]) {
  // The longest first, so that a value that contains another is removed as a whole.
  const formsBy = new Map<string, readonly SecretForm[]>()
  for (const form of forms.toSorted((a, b) => b.chars.length - a.chars.length))
    for (const char of form.chars[0] ?? '') formsBy.set(char, [...(formsBy.get(char) ?? []), form])
  // Three letters, or fewer at the end of the text: nearly all text costs no more than this search.
  const starts = forms.map(({ chars }) => {
    const [one, two, three] = [0, 1, 2].map((index) => `[${(chars[index] ?? '').replaceAll(/\W/g, inPattern)}]`)
    return `${one}${GAP.source}(?:$|${two}${GAP.source}(?:$|${three}))`
  })
  return { formsBy, start: new RegExp([...new Set(starts)].join('|'), 'g') }
}

const inPattern = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Gateway tokens of the owner, of names and of sessions, whose values are not stored: from their id on. */
export const TOKEN_FORMS: readonly SecretForm[] = [
  { chars: TOKEN_SHAPE, enough: 24 },
  ...encoded(TOKEN_SHAPE.map((chars) => [...Buffer.from(chars)])).map((chars) => ({ chars, enough: 48 })),
]

/** The value as it is, as a JSON string (also JSON in JSON), as a URL component, in hex and base64; a long one in pieces. */
export function formsOf(value: string): readonly SecretForm[] {
  return piecesOf(value).flatMap((piece) => {
    const plain = piece.replaceAll(/\s+/g, '')
    if (plain.length < REDACTABLE_CHARS_MIN) return []
    const inUrl = encodeURIComponent(piece.replaceAll(/\p{Cs}/gu, ''))
    const texts = new Set([plain, escaped(plain), escaped(escaped(plain)), inUrl])
    const bytes = [...Buffer.from(piece)].map((byte) => [byte])
    return [...texts, ...encoded(bytes)].map((chars) => ({ chars, enough: chars.length }))
  })
}

/** A key file may be printed line by line; its frame (`-----BEGIN …`) is not secret. What is held back of a text is bounded. */
function piecesOf(value: string): readonly string[] {
  const lines = value.includes('\n') ? value.split(/\r?\n/) : []
  const secret = lines.filter((line) => line.length >= 16 && !line.startsWith('-----'))
  return [value, ...secret].flatMap((text) => text.match(/[^]{1,1024}/g) ?? [])
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

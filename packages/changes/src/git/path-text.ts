import { isUtf8 } from 'node:buffer'

/** Byte 0x80 becomes U+DC80: text from valid UTF-8 has no such character, so that every name has exactly one text. */
const ESCAPE = 0xdc00
const ESCAPED = /[\uDC80-\uDCFF]/

/** The text of a name, whatever its bytes. */
export function pathText(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8')
  const parts: string[] = []
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at)
    parts.push(length === 0 ? String.fromCharCode(ESCAPE + (bytes[at] ?? 0)) : bytes.toString('utf8', at, at + length))
    at += Math.max(length, 1)
  }
  return parts.join('')
}

/** The bytes of a name from its text. */
export function pathBytes(text: string): Buffer {
  if (!ESCAPED.test(text)) return Buffer.from(text, 'utf8')
  return Buffer.concat(
    Array.from(text, (character) =>
      isEscaped(character) ? Buffer.from([character.charCodeAt(0) - ESCAPE]) : Buffer.from(character, 'utf8'),
    ),
  )
}

/** For functions of `node:fs`: the text where that is enough. */
export const fsPath = (text: string): string | Buffer => (ESCAPED.test(text) ? pathBytes(text) : text)

/**
 * A literal pathspec, or where the name is not UTF-8, a pattern: arguments of a process are text. Each of its bytes that has
 * no text matches any byte above 0x7F.
 */
export function pathspec(text: string): string {
  if (!ESCAPED.test(text)) return `:(literal)${text}`
  const pattern = Array.from(text, (character) =>
    isEscaped(character) ? '[!\u0001-\u007F]' : character.replace(/[*?[\]\\]/, '\\$&'),
  )
  return `:(glob)${pattern.join('')}`
}

/** Everything but what {@link pathspec} covers. */
export const notPathspec = (text: string): string => pathspec(text).replace(':(', ':(exclude,')

const isEscaped = (character: string): boolean => character.length === 1 && ESCAPED.test(character)

/** The bytes of the UTF-8 character at an index; 0 for none. */
function characterLength(bytes: Buffer, at: number): number {
  for (let length = 1; length <= 4 && at + length <= bytes.length; length++)
    if (isUtf8(bytes.subarray(at, at + length))) return length
  return 0
}

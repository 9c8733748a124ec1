/** Texts without quotes, and those in quotes, as far as they are read without the YAML library. */

/** What a text without quotes may not begin with; a dash may, before anything but a space. */
const RESERVED = /[-?:,[\]{}#&*!|>'"%@` \n]/

const beginsPlain = (text: string, at: number): boolean => {
  const first = text[at]
  if (first === undefined) return false
  if (first !== '-') return !RESERVED.test(first)
  const next = text[at + 1]
  return next !== undefined && !/[ \n,[\]{}]/.test(next)
}

/** A text without quotes that ends with its line or before a comment. */
export function plainLineText(source: string, from: number): string | undefined {
  if (!beginsPlain(source, from)) return undefined
  const end = source.indexOf('\n', from)
  const line = source.slice(from, end === -1 ? source.length : end)
  const comment = line.indexOf(' #')
  const text = (comment === -1 ? line : line.slice(0, comment)).replace(SPACES_AT_END, '')
  return isMapping(text) ? undefined : text
}

const SPACES_AT_END = / +$/
const FLOW_TEXT = /[^,[\]{}\n]+/y

/** A text without quotes between brackets. */
export function plainFlowText(source: string, from: number): string | undefined {
  if (!beginsPlain(source, from)) return undefined
  FLOW_TEXT.lastIndex = from
  const text = FLOW_TEXT.exec(source)?.[0].replace(SPACES_AT_END, '')
  return text === undefined || isMapping(text) || text.includes(' #') ? undefined : text
}

/** YAML takes these for a key with its value. */
const isMapping = (text: string): boolean => text.includes(': ') || text.endsWith(':')

/** Blanks that are no space: what they are to YAML, the library knows. */
const ODD_BLANK = /[^\S ]/
const WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])
/** What YAML takes for a number, and its words in any spelling. */
const NUMERIC = /^[-+]?(?:\.\d+|\d+\.?\d*)(?:[eE][-+]?\d+)?$|^0o[0-7]+$|^0x[\da-fA-F]+$/
const RESERVED_WORD = /^(?:~|null|true|false|[-+]?\.(?:inf|nan))$/i
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/
const DECIMAL = /^[1-9]?\d\.\d{1,9}$/

/** The value of a text without quotes; nothing where it may be more than a text, and not a simple number. */
export function plainValue(text: string): string | number | boolean | undefined {
  const word = WORDS.get(text)
  if (word !== undefined) return word
  if (ODD_BLANK.test(text) || RESERVED_WORD.test(text)) return undefined
  if (!NUMERIC.test(text)) return text
  return INTEGER.test(text) || DECIMAL.test(text) ? Number(text) : undefined
}

interface Quoted {
  readonly pattern: RegExp
  readonly valueOf: (inner: string) => string
}

/** Texts in quotes on one line; of the escapes, those that JSON has too. */
export const QUOTED: Readonly<Record<'"' | "'", Quoted>> = {
  '"': {
    pattern: /"((?:[^"\\\n]|\\["\\nt])*)"/y,
    valueOf: (inner) =>
      inner.includes('\\') ? inner.replace(/\\(.)/g, (_, mark: string) => ESCAPES[mark] ?? mark) : inner,
  },
  "'": { pattern: /'((?:[^'\n]|'')*)'/y, valueOf: (inner) => inner.replaceAll("''", "'") },
}
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t' }

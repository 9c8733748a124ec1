/** Removes registered secret values from everything that is written or sent. */
export interface Redactor {
  /** Registers a value and the forms in which programs print it. Ignores values shorter than {@link REDACTABLE_CHARS_MIN}. */
  add(value: string): void
  /** Removes a value that is no longer a secret. */
  remove(value: string): void
  /** Whether nothing is registered. */
  readonly empty: boolean
  redact(text: string): string
  /** Redacts each string in plain data. Data without a value is returned as the same object. */
  redactData<T>(data: T): T
  /** Redacts JSON text; the result is valid JSON. */
  redactJson(json: string): string
  /** How many characters at the end of a text may be the start of a value that continues in the next text. */
  openEnd(text: string): number
}

/** A shorter value is indistinguishable from ordinary text. */
export const REDACTABLE_CHARS_MIN = 6

const MARK = '[redacted]'
/** Tokens are renewed all the time; beyond this number the oldest values are dropped. */
const MAX_VALUES = 1_000
/** No message of an agent is nested deeper. Deeper data is replaced as a whole. */
const MAX_DEPTH = 200

/** Creates a redactor without values. */
export function createRedactor(): Redactor {
  return new ValueRedactor()
}

class ValueRedactor implements Redactor {
  empty = true
  /** Forms by value, in the order of registration. */
  readonly #values = new Map<string, readonly string[]>()
  /** Built from the values when it is next needed. */
  #sorted: readonly string[] | undefined

  /** The longest first, so that a value that contains another is removed as a whole. */
  get #forms(): readonly string[] {
    this.#sorted ??= [...new Set([...this.#values.values()].flat())].sort((a, b) => b.length - a.length)
    return this.#sorted
  }

  add(value: string): void {
    if (this.#values.has(value)) return
    const forms = formsOf(value)
    if (forms.length === 0) return
    this.#values.set(value, forms)
    this.empty = false
    const [oldest] = this.#values.keys()
    if (this.#values.size > MAX_VALUES && oldest !== undefined) this.#values.delete(oldest)
    this.#sorted = undefined
  }

  remove(value: string): void {
    if (!this.#values.delete(value)) return
    this.empty = this.#values.size === 0
    this.#sorted = undefined
  }

  redact(text: string): string {
    let clean = withoutTokens(text)
    for (const form of this.#forms) if (clean.includes(form)) clean = clean.replaceAll(form, MARK)
    return clean
  }

  redactData<T>(data: T): T {
    return this.empty ? data : (this.#clean(data, 0) as T)
  }

  redactJson(document: string): string {
    const json = withoutTokens(document)
    if (this.empty || !this.#forms.some((form) => json.includes(form))) return json
    // A value may look like a number or like JSON syntax, so the strings are redacted, not the document.
    try {
      return JSON.stringify(this.#clean(JSON.parse(json), 0))
    } catch {
      return this.redact(json)
    }
  }

  openEnd(text: string): number {
    let open = 0
    for (const form of this.#forms) open = Math.max(open, overlap(text, form))
    return open
  }

  #clean(data: unknown, depth: number): unknown {
    if (typeof data === 'string') return this.redact(data)
    if (typeof data !== 'object' || data === null) return data
    if (depth > MAX_DEPTH) return MARK
    if (Array.isArray(data))
      return keepUnchanged(
        data,
        data.map((item) => this.#clean(item, depth + 1)),
      )
    let changed = false
    const entries = Object.entries(data).map(([key, value]): [string, unknown] => {
      const clean: [string, unknown] = [this.redact(key), this.#clean(value, depth + 1)]
      changed ||= clean[0] !== key || clean[1] !== value
      return clean
    })
    return changed ? Object.fromEntries(entries) : data
  }
}

/** Gateway tokens of the owner, of names and of sessions: their values are not stored, but all have this format. */
const TOKENS = /agp_[cots]_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/g

const withoutTokens = (text: string): string => (text.includes('agp_') ? text.replace(TOKENS, MARK) : text)

const keepUnchanged = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  after.some((item, index) => item !== before[index]) ? after : before

/** The value itself, as a JSON string (also JSON in JSON), as a URL component, and each line of a long value. */
function formsOf(value: string): readonly string[] {
  const parts = [value, ...linesOf(value)].filter((part) => part.length >= REDACTABLE_CHARS_MIN)
  return parts.flatMap((part) => [part, escaped(part), escaped(escaped(part)), inUrl(part)])
}

/** A key file may be printed line by line. Its frame (`-----BEGIN …`) is not secret. */
function linesOf(value: string): readonly string[] {
  if (!value.includes('\n')) return []
  return value.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'))
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

function inUrl(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    // A lone surrogate cannot be encoded.
    return text
  }
}

/** Length of the longest start of a form, not the whole form, that the text ends with. */
function overlap(text: string, form: string): number {
  const first = form.charAt(0)
  for (let at = text.indexOf(first, text.length - form.length + 1); at >= 0; at = text.indexOf(first, at + 1)) {
    if (form.startsWith(text.slice(at))) return text.length - at
  }
  return 0
}

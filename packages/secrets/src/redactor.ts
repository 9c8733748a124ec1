/** Knows the values that must appear nowhere, and takes them out of whatever is written or sent. */
export interface Redactor {
  /** Registers a value, and the forms in which programs print it. Shorter ones than {@link REDACTABLE_CHARS_MIN} are left. */
  add(value: string): void
  /** Forgets a value that opens nothing any more. */
  remove(value: string): void
  /** Whether nothing is registered. */
  readonly empty: boolean
  redact(text: string): string
  /** The same for each text in plain data; what holds none is returned as it is. */
  redactData<T>(data: T): T
  /** The same for a text that is JSON, which stays valid JSON. */
  redactJson(json: string): string
  /** How many characters at the end of a text may be the beginning of a value that goes on in the next one. */
  openEnd(text: string): number
}

/** A shorter value cannot be told from ordinary text. */
export const REDACTABLE_CHARS_MIN = 6

const MARK = '[redacted]'
/** Tokens are renewed for ever; of more values than this the oldest are forgotten. */
const MAX_VALUES = 1_000
/** Deeper data is no message of an agent's; it is left out whole. */
const MAX_DEPTH = 200

/** Makes a redactor that knows nothing yet. */
export function createRedactor(): Redactor {
  return new ValueRedactor()
}

class ValueRedactor implements Redactor {
  /** Forms by value, in the order in which they came. */
  readonly #values = new Map<string, readonly string[]>()
  /** Made of the values when it is next needed. */
  #sorted: readonly string[] | undefined

  get empty(): boolean {
    return this.#values.size === 0
  }

  /** The longest first, so that a value that holds another is taken out whole. */
  get #forms(): readonly string[] {
    this.#sorted ??= [...new Set([...this.#values.values()].flat())].sort((a, b) => b.length - a.length)
    return this.#sorted
  }

  add(value: string): void {
    if (this.#values.has(value)) return
    const forms = formsOf(value)
    if (forms.length === 0) return
    this.#values.set(value, forms)
    const [oldest] = this.#values.keys()
    if (this.#values.size > MAX_VALUES && oldest !== undefined) this.#values.delete(oldest)
    this.#sorted = undefined
  }

  remove(value: string): void {
    if (this.#values.delete(value)) this.#sorted = undefined
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
    if (!this.#forms.some((form) => json.includes(form))) return json
    // A value may also look like a number or a piece of syntax, so the texts in it are looked at, not the document.
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

/** Tokens of gateways, the owner's, named ones and those of sessions: nobody has their values, but all have this shape. */
const TOKENS = /agp_[cots]_[0-9a-f]{16}_[A-Za-z0-9_-]{43}/g

const withoutTokens = (text: string): string => (text.includes('agp_') ? text.replace(TOKENS, MARK) : text)

const keepUnchanged = (before: readonly unknown[], after: readonly unknown[]): readonly unknown[] =>
  after.some((item, index) => item !== before[index]) ? after : before

/** As it is, as JSON writes it (once, and inside JSON inside JSON), as an address writes it; and each line of a long one. */
function formsOf(value: string): readonly string[] {
  const parts = [value, ...linesOf(value)].filter((part) => part.length >= REDACTABLE_CHARS_MIN)
  return parts.flatMap((part) => [part, escaped(part), escaped(escaped(part)), inAddress(part)])
}

/** A key file is printed line by line; its frame (`-----BEGIN …`) is no secret. */
function linesOf(value: string): readonly string[] {
  if (!value.includes('\n')) return []
  return value.split(/\r?\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'))
}

const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)

function inAddress(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    // Half a surrogate pair has no such form.
    return text
  }
}

/** The longest proper beginning of a form with which the text ends. */
function overlap(text: string, form: string): number {
  const first = form.charAt(0)
  for (let at = text.indexOf(first, text.length - form.length + 1); at >= 0; at = text.indexOf(first, at + 1)) {
    if (form.startsWith(text.slice(at))) return text.length - at
  }
  return 0
}

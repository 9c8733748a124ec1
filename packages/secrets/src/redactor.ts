import { endOf, formsOf, OPEN, type SecretForm, searchFor, TOKEN_FORMS } from './secret-form.js'

/** Removes gateway tokens and registered secret values from everything that is written or sent. */
export interface Redactor {
  /** Registers a value and the forms in which programs print it. Ignores values shorter than {@link REDACTABLE_CHARS_MIN}. */
  add(value: string): void
  redact(text: string): string
  /** Redacts each string in plain data. Data without a value is returned as the same object. */
  redactData<T>(data: T): T
  /** Redacts JSON text; the result is valid JSON. */
  redactJson(json: string): string
  /** Redacts a text that goes on. @returns what is decided, and its end as it is where that may be the beginning of a secret */
  redactPart(text: string): readonly [clean: string, open: string]
}

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
  /** Forms by value, in the order of registration. */
  readonly #values = new Map<string, readonly SecretForm[]>()
  /** Built from the values when it is next needed. */
  #search: ReturnType<typeof searchFor> | undefined

  add(value: string): void {
    if (this.#values.has(value)) return
    const forms = formsOf(value)
    if (forms.length === 0) return
    this.#values.set(value, forms)
    const [oldest] = this.#values.keys()
    if (this.#values.size > MAX_VALUES && oldest !== undefined) this.#values.delete(oldest)
    this.#search = undefined
  }

  redact(text: string): string {
    const [clean, open] = this.redactPart(text)
    // The NUL, which belongs to no form, decides what is open.
    return open === '' ? clean : clean + this.redactPart(`${open}\0`)[0].slice(0, -1)
  }

  redactPart(text: string): readonly [clean: string, open: string] {
    const { formsBy, start } = (this.#search ??= searchFor([...TOKEN_FORMS, ...[...this.#values.values()].flat()]))
    let clean = ''
    let from = 0
    start.lastIndex = 0
    for (let found = start.exec(text); found !== null; found = start.exec(text)) {
      const { index } = found
      let end = 0
      for (const form of formsBy.get(text.charAt(index)) ?? []) end ||= endOf(form, text, index)
      if (end === OPEN) return [clean + text.slice(from, index), text.slice(index)]
      if (end > 0) {
        clean += text.slice(from, index) + MARK
        from = end
      }
      start.lastIndex = Math.max(end, index + 1)
    }
    return [from === 0 ? text : clean + text.slice(from), '']
  }

  redactData<T>(data: T): T {
    return this.#clean(data, 0) as T
  }

  redactJson(json: string): string {
    const redacted = this.redact(json)
    if (redacted === json) return json
    // A value may look like a number or like JSON syntax, so the strings are redacted, not the document.
    try {
      return JSON.stringify(this.#clean(JSON.parse(json), 0))
    } catch {
      return redacted
    }
  }

  #clean(data: unknown, depth: number): unknown {
    if (typeof data === 'string') return this.redact(data)
    if (typeof data !== 'object' || data === null) return data
    if (depth > MAX_DEPTH) return MARK
    if (Array.isArray(data)) {
      const items = data.map((item: unknown) => this.#clean(item, depth + 1))
      return items.some((item, index) => item !== data[index]) ? items : data
    }
    let changed = false
    const entries = Object.entries(data).map(([key, value]): [string, unknown] => {
      const clean: [string, unknown] = [this.redact(key), this.#clean(value, depth + 1)]
      changed ||= clean[0] !== key || clean[1] !== value
      return clean
    })
    return changed ? Object.fromEntries(entries) : data
  }
}

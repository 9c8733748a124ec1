/** Header fields by name in lower case; of several with one name, each. */
export type Fields = Record<string, string | readonly string[] | undefined>

/** What a response may be given as headers. */
export type HeadersGiven = Iterable<readonly [string, string]> | Readonly<Record<string, string>>

/** What handlers ask of `Headers`, over the plain object that Node's server has. */
export class PlainHeaders {
  readonly #fields: Fields

  /** @param fields changed by `set`, `append` and `delete` */
  constructor(fields: Fields) {
    this.#fields = fields
  }

  get fields(): Readonly<Fields> {
    return this.#fields
  }

  get(name: string): string | null {
    const key = name.toLowerCase()
    const value = Object.hasOwn(this.#fields, key) ? this.#fields[key] : undefined
    if (value === undefined) return null
    return typeof value === 'string' ? value : value.join(', ')
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }

  set(name: string, value: string): void {
    this.#fields[name.toLowerCase()] = value
  }

  append(name: string, value: string): void {
    const key = name.toLowerCase()
    const before = this.get(key)
    if (key === 'set-cookie') this.#fields[key] = [...this.getSetCookie(), value]
    else this.#fields[key] = before === null ? value : `${before}, ${value}`
  }

  delete(name: string): void {
    delete this.#fields[name.toLowerCase()]
  }

  getSetCookie(): string[] {
    const value = this.#fields['set-cookie'] ?? []
    return typeof value === 'string' ? [value] : [...value]
  }

  forEach(each: (value: string, name: string, headers: this) => void): void {
    for (const [name, value] of this) each(value, name, this)
  }

  *entries(): Generator<[string, string]> {
    for (const [name, value] of Object.entries(this.#fields)) {
      if (value === undefined) continue
      for (const one of typeof value === 'string' ? [value] : value) yield [name, one]
    }
  }

  *keys(): Generator<string> {
    for (const [name] of this) yield name
  }

  *values(): Generator<string> {
    for (const [, value] of this) yield value
  }

  [Symbol.iterator](): Generator<[string, string]> {
    return this.entries()
  }
}

/** Fields of their own, whatever they are given as. */
export function fieldsOf(given: HeadersGiven): Fields {
  const fields: Fields = {}
  const headers = new PlainHeaders(fields)
  for (const [name, value] of isIterable(given) ? given : Object.entries(given)) headers.append(name, value)
  return fields
}

const isIterable = (given: HeadersGiven): given is Iterable<readonly [string, string]> => Symbol.iterator in given

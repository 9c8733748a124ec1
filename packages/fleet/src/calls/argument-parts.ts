/** Collects the parts of the arguments of one call, in their order; a part that arrives again is ignored. */
export class ArgumentParts {
  readonly #parts: Uint8Array[] = []
  readonly #of: number
  /** When the last part arrived. */
  at: number
  bytes = 0

  constructor(of: number, now: number) {
    this.#of = of
    this.at = now
  }

  /** Whether it is one of these parts: one that is here already, or the next one. */
  put(at: number, of: number, part: Uint8Array): boolean {
    if (of !== this.#of || at >= of || at > this.#parts.length) return false
    if (at < this.#parts.length) return true
    this.#parts.push(part)
    this.bytes += part.length
    return true
  }

  /** All of it; undefined while a part is missing. */
  joined(): Uint8Array | undefined {
    return this.#parts.length === this.#of ? Buffer.concat(this.#parts) : undefined
  }
}

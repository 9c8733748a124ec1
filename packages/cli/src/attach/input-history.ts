const MAX_LINES = 200
/** Of all lines together: a single paste may have megabytes. */
const MAX_CHARS = 8 * 1024 * 1024

/** Submitted lines, oldest first, and the place of a person who steps through them. Bounded: the oldest go first. */
export class InputHistory {
  #lines: string[] = []
  #at = 0
  #draft = ''

  /** Adds the newest line. The same line is kept once, at its last place. */
  add(line: string): void {
    if (line.trim() === '') return
    const isBrowsing = this.#at < this.#lines.length
    const current = this.#lines[this.#at]
    this.#lines = [...this.#lines.filter((each) => each !== line || (isBrowsing && each === current)), line]
    while (this.#lines.length > 1 && this.#isOverBound) this.#lines.shift()
    this.#at = isBrowsing && current !== undefined ? Math.max(0, this.#lines.indexOf(current)) : this.#lines.length
  }

  /** Adds a line before all others, if there is room for it. */
  addOlder(line: string): void {
    if (line.trim() === '' || this.#lines.includes(line)) return
    this.#lines.unshift(line)
    if (this.#isOverBound) this.#lines.shift()
    else this.#at += 1
  }

  /**
   * One step to an older (-1) or newer (1) line; the draft is after the newest.
   * @returns undefined where there is none
   */
  browse(step: -1 | 1, typed: string): string | undefined {
    const at = this.#at + step
    if (at < 0 || at > this.#lines.length) return undefined
    if (this.#at === this.#lines.length) this.#draft = typed
    this.#at = at
    return this.#lines[at] ?? this.#draft
  }

  /** The newest line with this text in it, older than `before` if that is given. */
  find(text: string, before?: string): string | undefined {
    const end = before === undefined ? this.#lines.length : this.#lines.lastIndexOf(before)
    return this.#lines.slice(0, Math.max(0, end)).findLast((line) => line.includes(text))
  }

  /** The person has left the history. */
  leave(): void {
    this.#at = this.#lines.length
  }

  get #isOverBound(): boolean {
    return this.#lines.length > MAX_LINES || this.#lines.reduce((sum, { length }) => sum + length, 0) > MAX_CHARS
  }
}

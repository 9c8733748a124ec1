import { AGENT_BOUNDS } from './agent-bounds.js'

/** What is kept of a command's output where the agent does not say, in bytes. */
const DEFAULT_LIMIT = 1 << 20

/** The end of a command's output. */
export class TerminalOutput {
  readonly #limit: number
  #chunks: Buffer[] = []
  #size = 0
  #truncated = false

  /** @param limit bytes that are kept; the oldest go first */
  constructor(limit = DEFAULT_LIMIT) {
    this.#limit = Math.min(Math.max(0, limit), AGENT_BOUNDS.terminalBytes)
  }

  add(lines: readonly string[]): void {
    const chunk = Buffer.from(`${lines.join('\n')}\n`)
    this.#chunks.push(chunk)
    this.#size += chunk.length
    // Half of the limit more may be kept, so that a flood is not copied at each line.
    if (this.#size > this.#limit * 1.5 + 65_536) this.#cut()
  }

  read(): { readonly output: string; readonly truncated: boolean } {
    this.#cut()
    return { output: Buffer.concat(this.#chunks).toString('utf8'), truncated: this.#truncated }
  }

  #cut(): void {
    if (this.#size <= this.#limit) return
    this.#truncated = true
    const all = Buffer.concat(this.#chunks)
    let from = all.length - this.#limit
    // Not in the middle of a character.
    while (from < all.length && ((all[from] ?? 0) & 0xc0) === 0x80) from++
    const kept = Buffer.from(all.subarray(from))
    this.#chunks = [kept]
    this.#size = kept.length
  }
}

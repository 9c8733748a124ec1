/** Removes the echo of typed text from terminal output. Ignores line ends, spaces and prompts, which the terminal adds. */
export class EchoFilter {
  readonly #typed: string
  readonly #prompts: readonly RegExp[]
  #seen = ''
  #held: string[] = []
  #done: boolean

  /** @param prompts what may precede an echoed line */
  constructor(typed: string, prompts: readonly RegExp[]) {
    this.#typed = squashed(typed)
    // A prompt that waits is a whole line. Before an echo it is the start of a line.
    this.#prompts = prompts.map(({ source, flags }) => new RegExp(source.replace(/\\s\*\$$/, '\\s*'), flags))
    this.#done = this.#typed === ''
  }

  /** Whether more of the echo may follow; `line` is the line that has not ended. */
  expects(line: string): boolean {
    return !this.#done && this.#typed.startsWith(this.#seen + squashed(this.#bare(line)))
  }

  /** Returns the lines that are not part of the echo. */
  filter(lines: readonly string[]): readonly string[] {
    if (this.#done) return lines
    const output: string[] = []
    for (const line of lines) {
      if (this.#done) output.push(line)
      else this.#compare(line, output)
    }
    return output
  }

  /** Ends the filter; returns the lines that were held back. */
  end(): readonly string[] {
    this.#done = true
    return this.#held.splice(0)
  }

  #compare(line: string, output: string[]): void {
    this.#seen += squashed(this.#bare(line))
    this.#held.push(line)
    if (this.#seen === this.#typed) {
      this.#done = true
      this.#held = []
    } else if (!this.#typed.startsWith(this.#seen)) {
      output.push(...this.end())
    }
  }

  #bare(line: string): string {
    for (const prompt of this.#prompts) {
      const match = prompt.exec(line)
      if (match?.index === 0) return line.slice(match[0].length)
    }
    return line
  }
}

const squashed = (text: string): string => text.replaceAll(/\s+/g, '')

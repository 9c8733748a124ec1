/** Limit of a line that is kept until it ends, in characters; a longer line is returned in pieces. */
const MAX_LINE = 64 * 1024

// Escape sequences: CSI (with parameters and a final letter), OSC and other strings up to their terminator, and
// two-letter sequences.
const CSI = /^\u001B\[([0-?]*)[ -/]*([@-~])/
const TEXT_STRING = /^\u001B[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)/
const SHORT = /^\u001B[ -/]*[0-~]/
/** The start of a sequence that is not complete yet. */
const UNFINISHED = /^\u001B(?:$|\[[0-?]*[ -/]*$|[\]PX^_][^\u0007\u001B]{0,4096}\u001B?$|[ -/]+$)/

/** Terminal output as plain text: without escape sequences and without overwritten parts of a line. */
export class TerminalText {
  #pending = ''
  #line = ''
  /** A carriage return whose meaning depends on what follows it. */
  #returned = false

  /** The line that has not ended. */
  get line(): string {
    return this.#line
  }

  /** Returns the line that has not ended, and starts a new one. */
  takeLine(): string {
    const line = this.#line
    this.#line = ''
    return line
  }

  /** Adds output of the program; returns the lines that ended, each with its newline. */
  feed(data: string): string[] {
    const ended: string[] = []
    let rest = this.#pending + data
    this.#pending = ''
    while (rest !== '') {
      const plain = /^[^\u0000-\u001F\u007F]+/.exec(rest)
      if (plain) {
        this.#write(plain[0])
        rest = rest.slice(plain[0].length)
      } else if (rest.startsWith('\u001B')) {
        const length = this.#sequence(rest)
        if (length === 0) break
        rest = rest.slice(length)
      } else {
        this.#control(rest.charAt(0), ended)
        rest = rest.slice(1)
      }
      if (this.#line.length > MAX_LINE) ended.push(this.takeLine())
    }
    return ended
  }

  #write(text: string): void {
    if (this.#returned) this.#line = ''
    this.#returned = false
    this.#line += text
  }

  #control(character: string, ended: string[]): void {
    switch (character) {
      case '\n':
        ended.push(`${this.#line}\n`)
        this.#line = ''
        this.#returned = false
        break
      case '\r':
        this.#returned = true
        break
      case '\b':
        this.#line = this.#line.slice(0, -1)
        break
      case '\t':
        this.#write('\t')
        break
      default:
        break
    }
  }

  /** Handles an escape sequence; returns its length, or 0 when it is not complete yet. */
  #sequence(rest: string): number {
    if (UNFINISHED.test(rest)) {
      this.#pending = rest
      return 0
    }
    const csi = CSI.exec(rest)
    if (csi) {
      this.#move(csi[1] ?? '', csi[2] ?? '')
      return csi[0].length
    }
    return (TEXT_STRING.exec(rest) ?? SHORT.exec(rest))?.[0].length ?? 1
  }

  /** Applies cursor movements and erasures to the line; other sequences have no effect. */
  #move(parameters: string, letter: string): void {
    const toFirstColumn = letter === 'H' || (letter === 'G' && (parameters === '' || parameters === '1'))
    // Output that follows overwrites the line.
    if (toFirstColumn) this.#returned = true
    const erasesRest = (letter === 'K' || letter === 'J') && this.#returned
    if (erasesRest || (letter === 'K' && parameters === '2')) this.#line = ''
  }
}

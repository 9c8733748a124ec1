import { StringDecoder } from 'node:string_decoder'

/** How much of the end of stderr is kept, in characters. */
const STDERR_TAIL = 64 << 10
const NEWLINE = 10

/** The last part of a process's stderr, and its whole lines as they come. */
export class StderrTail {
  readonly #decoder = new StringDecoder('utf8')
  #tail = ''
  #open = ''
  /** Bytes since the last line's end. */
  pending = 0

  /** The lines that this chunk completes. A line longer than the tail is cut into pieces of that length. */
  push(chunk: Buffer): string[] {
    const text = this.#decoder.write(chunk)
    this.#tail = (this.#tail + text).slice(-STDERR_TAIL)
    const rest = chunk.length - chunk.lastIndexOf(NEWLINE) - 1
    this.pending = rest < chunk.length ? rest : this.pending + rest
    const lines = (this.#open + text).split('\n')
    this.#open = lines.pop() ?? ''
    if (this.#open.length > STDERR_TAIL) {
      lines.push(this.#open)
      this.#open = ''
      this.pending = 0
    }
    return lines.map(withoutReturn)
  }

  end(): string[] {
    const rest = withoutReturn(this.#open)
    this.#open = ''
    return rest === '' ? [] : [rest]
  }

  get text(): string {
    return this.#tail
  }
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)

/**
 * Text that arrives in small pieces. Adding strings to one another would keep a node for each piece until
 * somebody reads the whole; joining now and then keeps the characters alone.
 */
export class TextBuffer {
  readonly #maxChars: number
  #blocks: string[] = []
  #pieces: string[] = []
  #pieceChars = 0
  #chars = 0

  /** @param maxChars what comes beyond is dropped */
  constructor(maxChars: number) {
    this.#maxChars = maxChars
  }

  add(text: string): void {
    if (this.#chars >= this.#maxChars) return
    this.#chars += text.length
    this.#pieceChars += text.length
    this.#pieces.push(text)
    if (this.#pieceChars > BLOCK) this.#join()
  }

  toString(): string {
    this.#join()
    return this.#blocks.join('')
  }

  #join(): void {
    this.#blocks.push(this.#pieces.join(''))
    this.#pieces = []
    this.#pieceChars = 0
  }
}

const BLOCK = 4_096

/**
 * Text that arrives in small pieces. Concatenated strings keep a node for each piece until they are read; joining them now
 * and then keeps only the characters.
 */
export class TextBuffer {
  readonly #maxChars: number
  #blocks: string[] = []
  #pieces: string[] = []
  #pieceChars = 0
  #chars = 0

  /** @param maxChars text beyond it is dropped */
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

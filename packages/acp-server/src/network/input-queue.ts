/** Memory of a waiting text beside its characters: without it, a flood of empty texts would count nothing. */
const EACH = 1_024

/** Texts that were received and not handled yet, within a bound. It has one reader. */
export class InputQueue {
  readonly #max: number
  #texts: string[] = []
  #at = 0
  #size = 0
  #isClosed = false
  #wake: (() => void) | undefined

  /** @param max Characters that may wait */
  constructor(max: number) {
    this.#max = max
  }

  /** @returns false if too much waits, and the text is not kept */
  push(text: string): boolean {
    const size = text.length + EACH
    // One text alone always has room.
    if (this.#size > 0 && this.#size + size > this.#max) return false
    this.#size += size
    this.#texts.push(text)
    this.#wake?.()
    return true
  }

  /** Ends it at once: what waits is dropped. */
  close(): void {
    this.#isClosed = true
    this.#texts = []
    this.#wake?.()
  }

  /** The next text; undefined at the end. */
  async next(): Promise<string | undefined> {
    while (!this.#isClosed && this.#at >= this.#texts.length) await this.#more()
    if (this.#isClosed) return undefined
    const text = this.#texts[this.#at++] as string
    this.#size -= text.length + EACH
    // A queue that is never empty must not keep what was taken; moving the rest each time would cost its square.
    if (this.#at * 2 < this.#texts.length) return text
    this.#texts = this.#texts.slice(this.#at)
    this.#at = 0
    return text
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = undefined
        resolve()
      }
    })
  }
}

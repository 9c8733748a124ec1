/** A text that another host sends piece by piece; the next piece is asked for when this one was read. */
export class FedText implements AsyncIterable<string> {
  #piece: string | undefined
  #isLast = false
  #ended = false
  #wake: (() => void) | undefined
  #taken: (() => void) | undefined

  /** @returns when the piece was read, or nothing is read any more */
  put(piece: string, isLast: boolean): Promise<void> {
    if (this.#ended) return Promise.resolve()
    this.#piece = piece
    this.#isLast = isLast
    this.#wake?.()
    return new Promise((resolve) => (this.#taken = resolve))
  }

  /** The call that reads it has ended, or its caller is gone. */
  end(): void {
    this.#ended = true
    this.#wake?.()
    this.#taken?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    let isLast = false
    while (!isLast) {
      while (this.#piece === undefined && !this.#ended) await new Promise<void>((resolve) => (this.#wake = resolve))
      if (this.#piece === undefined) throw new Error('The host that sends the text is gone')
      const piece = this.#piece
      isLast = this.#isLast
      this.#piece = undefined
      this.#taken?.()
      yield piece
    }
  }
}

/** Items that may wait for a slow reader before the writer is held up. */
const HIGH_WATER = 1_000

/** Events on their way from a writer to one reader, who pulls them: bounded, in order, and ended once. */
export class EventChannel<T> implements AsyncIterable<T> {
  #items: T[] = []
  #next = 0
  #done = false
  #failure: Error | undefined
  #wake: (() => void) | undefined
  #drained: (() => void) | undefined
  #pressure: Promise<void> | undefined

  /** Adds items. A promise is returned while too many wait: write nothing more until it settles. */
  push(items: readonly T[]): void | Promise<void> {
    if (this.#done) return
    this.#items.push(...items)
    this.#wake?.()
    if (this.#items.length - this.#next < HIGH_WATER) return
    this.#pressure ??= new Promise((resolve) => (this.#drained = resolve))
    return this.#pressure
  }

  /** No more items; what waits is still read. */
  end(failure?: Error): void {
    if (this.#done) return
    this.#done = true
    this.#failure = failure
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for (;;) {
      while (this.#next < this.#items.length) {
        const item = this.#items[this.#next++] as T
        if (this.#next === this.#items.length) this.#clear()
        yield item
      }
      if (this.#done) break
      await new Promise<void>((resolve) => (this.#wake = resolve))
      this.#wake = undefined
    }
    if (this.#failure) throw this.#failure
  }

  #clear(): void {
    this.#items = []
    this.#next = 0
    this.#drained?.()
    this.#drained = undefined
    this.#pressure = undefined
  }
}

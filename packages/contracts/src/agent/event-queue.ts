/** Items that may wait for a slow reader before the writer has to wait. */
const HIGH_WATER = 1_000

/** Events from one writer to one reader who pulls them: in order, bounded by back-pressure, ended once. */
export class EventQueue<T> implements AsyncIterableIterator<T, undefined> {
  #items: T[] = []
  #next = 0
  #done = false
  #failure: unknown
  #wake: (() => void) | undefined
  #drained: (() => void) | undefined
  #pressure: Promise<void> | undefined
  readonly #onReturn: (() => void) | undefined

  /** @param onReturn called when the reader leaves before the end */
  constructor(onReturn?: () => void) {
    this.#onReturn = onReturn
  }

  /** Items that were not read yet. */
  get waiting(): number {
    return this.#items.length - this.#next
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Adds items. Returns a promise while too many wait: write nothing more until it settles. */
  push(items: readonly T[]): void | Promise<void> {
    if (this.#done) return
    this.#items.push(...items)
    this.#wakeReader()
    if (this.waiting < HIGH_WATER) return
    this.#pressure ??= new Promise((resolve) => (this.#drained = resolve))
    return this.#pressure
  }

  /** Ends the queue. What waits is still read; then a failure is thrown, once. */
  end(failure?: unknown): void {
    if (this.#done) return
    this.#done = true
    this.#failure = failure
    this.#wakeReader()
  }

  async next(): Promise<IteratorResult<T, undefined>> {
    while (this.waiting === 0 && !this.#done) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (this.waiting > 0) {
      const value = this.#items[this.#next++] as T
      if (this.waiting === 0) this.#clear()
      return { done: false, value }
    }
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined)
      throw failure instanceof Error ? failure : new Error('The source of the events failed', { cause: failure })
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    const early = !this.#done
    this.end()
    this.#clear()
    if (early) this.#onReturn?.()
    return { done: true, value: undefined }
  }

  #clear(): void {
    this.#items = []
    this.#next = 0
    this.#drained?.()
    this.#drained = undefined
    this.#pressure = undefined
  }

  #wakeReader(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

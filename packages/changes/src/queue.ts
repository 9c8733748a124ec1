/** Runs one thing after the other, in the order of the calls. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve()

  /** A failure does not affect what comes after it. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => undefined)
    return result
  }
}

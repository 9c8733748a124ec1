/** Any number of waiters wait for the next {@link Wakeup.wake} and get its value. */
export class Wakeup<T = undefined> {
  #waiters = new Set<(value?: T) => void>()

  wake(value?: T): void {
    if (this.#waiters.size === 0) return
    const waiters = this.#waiters
    this.#waiters = new Set()
    for (const resume of waiters) resume(value)
  }

  /** Resolves at the next {@link wake} with its value, or with nothing when `signal` aborts. */
  wait(signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted ?? false) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const resume = (value?: T): void => {
        signal?.removeEventListener('abort', abort)
        this.#waiters.delete(resume)
        resolve(value)
      }
      const abort = (): void => resume()
      this.#waiters.add(resume)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}

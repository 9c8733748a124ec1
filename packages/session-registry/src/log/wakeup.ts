/** Lets any number of waiters sleep until the next time that something happened, and tells them what. */
export class Wakeup<T = undefined> {
  #waiters = new Set<(what?: T) => void>()

  wake(what?: T): void {
    if (this.#waiters.size === 0) return
    const waiters = this.#waiters
    this.#waiters = new Set()
    for (const resume of waiters) resume(what)
  }

  /** Resolves at the next {@link wake} with what it was told, or with nothing when `signal` aborts. */
  wait(signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted ?? false) return Promise.resolve(undefined)
    return new Promise((resolve) => {
      const resume = (what?: T): void => {
        signal?.removeEventListener('abort', abort)
        this.#waiters.delete(resume)
        resolve(what)
      }
      const abort = (): void => resume()
      this.#waiters.add(resume)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }
}

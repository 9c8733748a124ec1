/** Lets any number of waiters sleep until the next time that something happened. */
export class Wakeup {
  #waiters = new Set<() => void>()

  wake(): void {
    if (this.#waiters.size === 0) return
    const waiters = this.#waiters
    this.#waiters = new Set()
    for (const resume of waiters) resume()
  }

  /** Resolves at the next {@link wake}, or when `signal` aborts. */
  wait(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted ?? false) return Promise.resolve()
    return new Promise((resolve) => {
      const resume = (): void => {
        signal?.removeEventListener('abort', resume)
        this.#waiters.delete(resume)
        resolve()
      }
      this.#waiters.add(resume)
      signal?.addEventListener('abort', resume, { once: true })
    })
  }
}

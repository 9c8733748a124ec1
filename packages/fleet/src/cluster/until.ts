/** The value of work, or undefined as soon as `signal` aborts; the work goes on. */
export function until<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T | undefined> {
  if (signal === undefined) return work
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const abort = (): void => resolve(undefined)
    signal.addEventListener('abort', abort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

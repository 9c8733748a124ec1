/** Resolves when a promise is settled, or at once when the signal aborts. */
export function untilAborted(settled: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      signal.removeEventListener('abort', goOn)
      resolve()
    }
    signal.addEventListener('abort', goOn)
    settled.then(goOn, goOn)
  })
}

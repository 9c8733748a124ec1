/**
 * The result of work, or the reason of the signal as soon as it aborts: an injected `fetch` or `locate` may ignore the signal.
 * @param late Receives a result that arrives too late, to release it
 */
export function untilAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  late: (value: T) => void = ignore,
): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    function leave(): void {
      reject(signal?.reason)
      work.then(late, ignore)
    }
    if (signal.aborted) return leave()
    signal.addEventListener('abort', leave, { once: true })
    const unlisten = (): void => signal.removeEventListener('abort', leave)
    work.then(resolve, reject).then(unlisten, unlisten)
  })
}

const ignore = (): void => undefined

/**
 * What work comes to, or the signal's reason as soon as that aborts: what an embedder gives, a `fetch` or a `locate`, need
 * not heed a signal.
 * @param late Told of what comes too late, to let it go
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

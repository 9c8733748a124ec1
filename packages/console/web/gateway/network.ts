/** A browser opens six connections to a gateway, for all tabs together. Streams may take four: the rest are for what a person does. */
const STREAMS = 4

let change = new AbortController()
for (const type of ['online', 'offline'])
  addEventListener(type, () => {
    const before = change
    change = new AbortController()
    before.abort()
  })

/** Aborts when the browser gets or loses its network: a stream that is open then may have died without an end. */
export const networkChange = (): AbortSignal => change.signal

/** Resolves after so many milliseconds, or at once when a signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
    function end(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}

/**
 * Does work that keeps a stream open, if this tab gets one of the connections that all tabs share for streams.
 * @returns undefined if none is free: the caller asks from time to time instead
 */
export async function withStream<T>(work: () => Promise<T>): Promise<T | undefined> {
  // Only a page of a safe origin has locks; elsewhere streams are not counted.
  if (!('locks' in navigator)) return work()
  for (let place = 0; place < STREAMS; place++) {
    const held = await navigator.locks.request(`agentproto.stream.${place}`, { ifAvailable: true }, async (lock) =>
      lock === null ? undefined : { value: await work() },
    )
    if (held !== undefined) return held.value
  }
  return undefined
}

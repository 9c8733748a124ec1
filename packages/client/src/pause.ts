import type { Clock } from '@agentproto/contracts'

/** Resolves after `ms` milliseconds, or at once if the signal aborts; the caller checks the signal. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const timer = clock.after(ms, done)
    signal?.addEventListener('abort', done, { once: true })
    function done(): void {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
  })
}

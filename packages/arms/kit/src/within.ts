import { AgentprotoError, type Clock } from '@agentproto/contracts'

export interface Limit {
  /** Time limit in milliseconds. */
  readonly ms: number
  readonly clock: Clock
  /** Stops waiting at once. */
  readonly signal?: AbortSignal
}

/**
 * Waits for a promise of an agent or an adapter, no longer than the limit.
 * @param what start of the error message, such as "The agent did not answer initialize"
 * @throws `timeout`, `cancelled` when the signal aborts, or the error of the promise
 */
export function within<T>(work: Promise<T>, what: string, { ms, clock, signal }: Limit): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => settle(() => reject(new AgentprotoError('timeout', `${what} within ${ms} ms`))))
    const abort = (): void => settle(() => reject(new AgentprotoError('cancelled', `${what} before it was cancelled`)))
    function settle(end: () => void): void {
      timer.cancel()
      signal?.removeEventListener('abort', abort)
      end()
    }
    if (signal?.aborted) return abort()
    signal?.addEventListener('abort', abort, { once: true })
    work.then(
      (value) => settle(() => resolve(value)),
      (reason: unknown) => settle(() => reject(reason)),
    )
  })
}

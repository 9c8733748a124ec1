import { AgentprotoError } from '@agentproto/contracts'
import type { Clock } from '@agentproto/contracts'

export interface Limit {
  /** Milliseconds until it is given up. */
  readonly ms: number
  readonly clock: Clock
  /** Gives it up at once. */
  readonly signal?: AbortSignal
}

/**
 * Waits for what an agent or an adapter promised, and no longer than the limit.
 * @param what in the message of the error, such as "The agent did not answer initialize"
 * @throws `timeout`, `cancelled` when the signal aborts, or what the work throws
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

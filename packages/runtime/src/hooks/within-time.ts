import { AgentprotoError, type Clock } from '@agentproto/contracts'
import type { HookContext } from './gateway-hooks.js'

/**
 * Waits for a hook no longer than its time. One that answers at once costs no timer.
 * @throws what the hook throws, or `timeout`
 */
export async function withinTime<T>(
  call: (context: HookContext) => T | Promise<T>,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<T> {
  const leaving = new AbortController()
  const answer = call({ signal: leaving.signal })
  if (!(answer instanceof Promise)) return answer
  let cancel = (): void => undefined
  const late = new Promise<never>((_resolve, reject) => {
    const timer = clock.after(timeoutMs, () => {
      leaving.abort()
      reject(new AgentprotoError('timeout', `It did not answer within ${timeoutMs} ms`))
    })
    cancel = () => timer.cancel()
  })
  return Promise.race([answer, late]).finally(cancel)
}

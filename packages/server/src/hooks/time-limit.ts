import { AgentprotoError, type Clock } from '@agentproto/contracts'
import type { HookContext } from './gateway-hooks.js'

/**
 * Waits for a hook, but no longer than its time limit. A hook that answers synchronously costs no timer.
 * @throws what the hook throws, or `timeout`
 */
export async function withTimeLimit<T>(
  call: (context: HookContext) => T | Promise<T>,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<T> {
  const abort = new AbortController()
  const answer = call({ signal: abort.signal })
  if (!(answer instanceof Promise)) return answer
  let cancel = (): void => undefined
  const late = new Promise<never>((_resolve, reject) => {
    const timer = clock.after(timeoutMs, () => {
      abort.abort()
      reject(new AgentprotoError('timeout', `No answer within ${timeoutMs} ms`))
    })
    cancel = () => timer.cancel()
  })
  return Promise.race([answer, late]).finally(cancel)
}

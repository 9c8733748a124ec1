import { AgentprotoError, type Clock, settlesWithin } from '@agentproto/contracts'
import type { HookContext } from './gateway-hooks.js'

/** Waits for a hook up to its time limit; a synchronous one costs no timer. @throws what it throws, or `timeout` */
export async function withTimeLimit<T>(
  call: (context: HookContext) => T | Promise<T>,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<T> {
  const abort = new AbortController()
  const answer = call({ signal: abort.signal })
  if (!(answer instanceof Promise)) return answer
  if (await settlesWithin(timeoutMs, answer, clock)) return answer
  abort.abort()
  throw new AgentprotoError('timeout', `No answer within ${timeoutMs} ms`)
}

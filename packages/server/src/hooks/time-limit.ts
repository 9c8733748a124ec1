import { AgentprotoError, type Clock, settlesWithin } from '@agentproto/contracts'
import type { HookContext } from './gateway-hooks.js'

/** Waits for a hook up to its time limit; a synchronous one costs no timer. @throws what it throws, or `timeout` */
export async function withTimeLimit<T>(
  call: (context: HookContext) => T | PromiseLike<T>,
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<T> {
  const abort = new AbortController()
  const called = call({ signal: abort.signal })
  if (!isPromiseLike(called)) return called
  const answer = Promise.resolve(called)
  if (await settlesWithin(timeoutMs, answer, clock)) return answer
  abort.abort()
  throw new AgentprotoError('timeout', `No answer within ${timeoutMs} ms`)
}

/** Not by its class: a promise of another library, or of another realm, is awaited just the same. */
const isPromiseLike = <T>(value: T | PromiseLike<T>): value is PromiseLike<T> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

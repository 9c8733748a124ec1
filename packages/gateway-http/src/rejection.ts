import { type AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import type { HttpContext, HttpDeps } from './http-deps.js'
import { problem, toOwnError } from './reply.js'

/** Marks a request that is rejected before a service is called. Services report their own refusals. */
export function rejected(c: HttpContext, error: AgentprotoError): AgentprotoError {
  c.set('rejected', true)
  return error
}

/** Turns everything that a handler throws into an answer, and reports foreign errors and rejections. */
export function errorHandler(deps: Pick<HttpDeps, 'onError' | 'onRefused'>) {
  return function answerError(thrown: Error, c: HttpContext): Response {
    const error = toOwnError(thrown)
    const { method, path } = c.req
    if (!isAgentprotoError(thrown)) deps.onError?.(thrown, { method, path })
    else if (c.get('rejected') === true) {
      // The principal is unknown until its token was checked.
      const by = c.get('by') as HttpContext['var']['by'] | undefined
      const from = remoteAddress(c.env)
      deps.onRefused?.({
        code: error.code,
        method,
        path,
        ...(by === undefined ? {} : { by }),
        ...(from === undefined ? {} : { from }),
      })
    }
    return problem(error)
  }
}

/** What `@hono/node-server` passes to an app beside the request; other servers pass something else, or nothing. */
function remoteAddress(env: unknown): string | undefined {
  const { incoming } = (env ?? {}) as { readonly incoming?: { readonly socket?: { readonly remoteAddress?: unknown } } }
  const address = incoming?.socket?.remoteAddress
  return typeof address === 'string' ? address : undefined
}

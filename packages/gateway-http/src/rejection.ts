import { AgentprotoError, defined, isAgentprotoError } from '@agentproto/contracts'
import type { HttpContext, HttpDeps } from './http-deps.js'
import { type Headers, textReply } from './json-body.js'

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
      deps.onRefused?.(defined({ code: error.code, method, path, by, from }))
    }
    return problem(error)
  }
}

/** The RFC 9457 problem document of an error. */
export function problem(error: AgentprotoError, headers?: Headers): Response {
  const challenge = error.code === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {}
  return textReply(JSON.stringify(error.toProblem()), error.row.status, {
    'content-type': 'application/problem+json',
    ...challenge,
    ...laterOf(error),
    ...headers,
  })
}

/** When a caller may try again: where the error says it, or soon where places become free at any time. */
function laterOf({ row: { status, retryable }, parts: { data } }: AgentprotoError): Headers {
  const seconds = data?.['retryAfter']
  if (typeof seconds === 'number') return { 'retry-after': String(seconds) }
  return status === 429 && retryable ? { 'retry-after': RETRY_SECONDS } : {}
}

const RETRY_SECONDS = '1'

/** Keeps our errors. The message of a foreign one may hold anything, so the caller does not get it. */
export function toOwnError(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return thrown
  return new AgentprotoError('internal', 'The gateway failed to answer the request', {
    hint: 'See the log of the gateway',
    cause: thrown,
  })
}

/** What `@hono/node-server` passes to an app beside the request; other servers pass something else, or nothing. */
interface NodeEnv {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: unknown } }
  readonly outgoing?: { destroy?(): void }
}

function remoteAddress(env: unknown): string | undefined {
  const address = ((env ?? {}) as NodeEnv).incoming?.socket?.remoteAddress
  return typeof address === 'string' ? address : undefined
}

/**
 * Ends an answer that fails after its beginning was sent, so that the client does not take it for whole.
 * `@hono/node-server` would print the error of a body and send its message, so its connection is closed here.
 * @returns the error to end the body with; undefined if the connection was closed
 */
export function abortAnswer(c: HttpContext, thrown: unknown): Error | undefined {
  const { outgoing } = (c.env ?? {}) as NodeEnv
  if (typeof outgoing?.destroy !== 'function') return toOwnError(thrown)
  outgoing.destroy()
  return undefined
}

import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { tellRefused } from './door.js'
import type { HttpContext, HttpDeps } from './http-deps.js'
import { json } from './reply.js'

const PROBLEM = { 'content-type': 'application/problem+json' } as const

/** The answer to one of our errors: its RFC 9457 problem document. */
export function problem(error: AgentprotoError, headers?: Readonly<Record<string, string>>): Response {
  return json(error.toProblem(), error.row.status, { ...PROBLEM, ...headers })
}

/** Makes the one door through which everything thrown becomes an answer. */
export function answerError(
  deps: Pick<HttpDeps, 'onError' | 'onRefused'>,
): (thrown: Error, c: HttpContext) => Response {
  return function answerThrown(thrown, c) {
    if (isAgentprotoError(thrown)) tellRefused(deps, c, thrown)
    else deps.onError?.(thrown, { method: c.req.method, path: c.req.path })
    return problem(toOwnError(thrown), thrown instanceof Error && isUnauthorized(thrown) ? CHALLENGE : undefined)
  }
}

/** Keeps our errors; of a foreign one nothing is told to the caller, since its message may hold anything. */
export function toOwnError(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return thrown
  return new AgentprotoError('internal', 'The gateway failed while it answered', {
    hint: 'Look into the log of the gateway',
    cause: thrown,
  })
}

export function answerNoRoute(c: HttpContext): Response {
  const given = `${c.req.method} ${c.req.path}`
  return problem(new AgentprotoError('route_not_found', 'There is no such route', { given }))
}

const CHALLENGE = { 'www-authenticate': 'Bearer' } as const
const isUnauthorized = (error: Error): boolean => isAgentprotoError(error) && error.code === 'unauthorized'

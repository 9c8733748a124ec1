import { AgentprotoError } from '@agentproto/contracts'
import type { MiddlewareHandler } from 'hono'
import { cors } from 'hono/cors'
import { isAllowedHost, isAllowedOrigin, nameIn } from './host-and-origin.js'
import type { HttpContext, HttpDeps, HttpEnv } from './http-deps.js'
import { cookieToken } from './login-cookie.js'
import { rejected } from './rejection.js'

/**
 * Rejects requests of foreign web pages: a Host that is not ours (DNS rebinding) and an Origin that is not ours, also on
 * reads, which are what leaks (F80).
 */
export function knownHostAndOrigin(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  const { allowedHosts = [], allowedOrigins = [], isOwnHost = () => false } = deps
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  return function checkHostAndOrigin(c, next) {
    const host = hostOf(c)
    if (!isAllowedHost(host, hosts) && !isOwnHost(nameIn(host))) throw rejected(c, refusedHost(host))
    const origin = c.req.header('origin')
    if (origin !== undefined && !isAllowedOrigin(origin, host, origins)) throw rejected(c, refusedOrigin(origin))
    return next()
  }
}

/**
 * Lets pages of the named origins read answers (CORS). Loopback origins may call, and read nothing. Preflights have no token,
 * so they are answered before tokens are checked; those of other origins get no answer that allows anything.
 */
export function allowedOriginsOnly(allowedOrigins: readonly string[]): MiddlewareHandler<HttpEnv> {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  const allow = cors({
    origin: (origin) => origin,
    allowMethods: ['GET', 'POST', 'DELETE'],
    allowHeaders: [
      'authorization',
      'content-type',
      'last-event-id',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'traceparent',
      'tracestate',
    ],
    maxAge: 600,
  })
  return function allowOrigin(c, next) {
    const origin = c.req.header('origin')
    return origin !== undefined && origins.has(origin.toLowerCase()) ? allow(c, next) : next()
  }
}

/** Accepts only requests with a known token, and sets its principal. */
export function knownToken({ authenticate, browsers }: HttpDeps): MiddlewareHandler<HttpEnv> {
  return function checkToken(c, next) {
    const token = bearerOf(c.req.header('authorization')) ?? (browsers && cookieToken(c))
    const by = token === undefined ? undefined : authenticate(token)
    if (by === undefined) throw rejected(c, refusedToken(token))
    c.set('by', by)
    if (by.type === 'token' && rejectsNamedTokens(c.env)) throw rejected(c, refusedNamedToken())
    return next()
  }
}

/** The token of an Authorization header; undefined where it bears none. */
const bearerOf = (authorization: string | null | undefined): string | undefined => BEARER.exec(authorization ?? '')?.[1]

/** The server marks the requests of a listener that only the owner and the agents of this machine may use. */
const rejectsNamedTokens = (env: unknown): boolean =>
  typeof env === 'object' && env !== null && 'rejectNamedTokens' in env && env.rejectNamedTokens === true

const BEARER = /^bearer +([^\s]+)\s*$/i

// HTTP/2 and in-process requests have no Host header; their URL says the same.
const hostOf = (c: HttpContext): string => (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase()

const refusedHost = (given: string): AgentprotoError =>
  new AgentprotoError('host_not_allowed', 'The Host header does not name this gateway', {
    expected: 'localhost or another loopback name',
    given,
    hint: 'Add the name to the allowed hosts if clients use it to reach the gateway',
  })

const refusedOrigin = (given: string): AgentprotoError =>
  new AgentprotoError('origin_not_allowed', 'Pages of this origin may not call the gateway', {
    expected: 'no Origin header, a loopback origin or the gateway’s own',
    given,
    hint: 'Add the origin to the allowed origins if its pages may call the gateway',
  })

const refusedToken = (token: string | undefined): AgentprotoError =>
  new AgentprotoError('unauthorized', token === undefined ? 'The request has no token' : 'Unknown token', {
    expected: 'the header "Authorization: Bearer <token>"',
    hint: 'Set AGENTPROTO_TOKEN, or run this as the owner of the home, where the file "token" has it',
  })

const refusedNamedToken = (): AgentprotoError =>
  new AgentprotoError('forbidden', 'Named tokens are rejected at this address', {
    expected: 'the owner’s token or a session’s',
    hint: 'Call the address that `agentproto status` prints',
  })

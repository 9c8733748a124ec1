import { AgentprotoError } from '@agentproto/contracts'
import type { MiddlewareHandler } from 'hono'
import { turnedAway } from './door.js'
import { isAllowedHost, isAllowedOrigin, nameIn } from './host-and-origin.js'
import type { HttpContext, HttpDeps, HttpEnv } from './http-deps.js'
import { cookieToken } from './login-cookie.js'

/**
 * Refuses what a web page of somewhere else sends: a Host that is not ours (DNS rebinding) and an Origin that
 * is not ours, on reads too, since a read is what leaks (F80).
 */
export function knownHostAndOrigin(deps: HttpDeps): MiddlewareHandler<HttpEnv> {
  const { allowedHosts = [], allowedOrigins = [], isOwnHost = () => false } = deps
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  return function checkHostAndOrigin(c, next) {
    const host = hostOf(c)
    if (!isAllowedHost(host, hosts) && !isOwnHost(nameIn(host))) throw turnedAway(c, refusedHost(host))
    const origin = c.req.header('origin')
    if (origin !== undefined && !isAllowedOrigin(origin, host, origins)) throw turnedAway(c, refusedOrigin(origin))
    return next()
  }
}

/** Lets in who bears a token that somebody has, and remembers who that is. */
export function knownToken({ authenticate, browsers }: HttpDeps): MiddlewareHandler<HttpEnv> {
  return function checkToken(c, next) {
    const token = bearerOf(c.req.header('authorization')) ?? (browsers && cookieToken(c))
    const by = token === undefined ? undefined : authenticate(token)
    if (by === undefined) throw turnedAway(c, refusedToken(token))
    c.set('by', by)
    return next()
  }
}

/** Refuses bodies that are compressed: their bound would not be that of what they hold. */
export const plainBodies: MiddlewareHandler<HttpEnv> = function checkCoding(c, next) {
  const coding = c.req.method === 'GET' ? undefined : c.req.header('content-encoding')
  if (coding === undefined || coding === 'identity') return next()
  throw new AgentprotoError('unsupported_media_type', 'The body must not be encoded', {
    expected: 'no content-encoding',
    given: coding,
  })
}

/** The token of an Authorization header; undefined where it bears none. */
export const bearerOf = (authorization: string | null | undefined): string | undefined =>
  BEARER.exec(authorization ?? '')?.[1]

const BEARER = /^bearer +([^\s]+)\s*$/i

// HTTP/2 and in-process requests have no Host header; their URL says the same.
const hostOf = (c: HttpContext): string => (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase()

const refusedHost = (given: string): AgentprotoError =>
  new AgentprotoError('host_not_allowed', 'The Host header names a host that this gateway is not', {
    expected: 'localhost or another loopback name',
    given,
    hint: 'Add the name to the allowed hosts if the gateway is meant to be reached by it',
  })

const refusedOrigin = (given: string): AgentprotoError =>
  new AgentprotoError('origin_not_allowed', 'Pages of this origin may not call the gateway', {
    expected: 'no Origin header, a loopback origin or the gateway’s own',
    given,
    hint: 'Add the origin to the allowed origins if its pages are meant to call the gateway',
  })

const refusedToken = (token: string | undefined): AgentprotoError =>
  new AgentprotoError('unauthorized', token === undefined ? 'The request bears no token' : 'Nobody has this token', {
    expected: 'the header "Authorization: Bearer <token>"',
    hint: 'Take the token from the file "token" in the gateway’s home',
  })

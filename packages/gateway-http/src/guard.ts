import { AgentprotoError, type Principal } from '@agentproto/contracts'
import { assertMayUse, boundsOf, mayUse, scopeOfRoute, type SessionService } from '@agentproto/contracts/wire'
import type { MiddlewareHandler, Next } from 'hono'
import { cors } from 'hono/cors'
import { matchedRoutes, routePath } from 'hono/route'
import type { HttpContext, HttpDeps, HttpEnv } from './http-deps.js'
import { cookieToken } from './login-cookie.js'
import type { PublicAddress } from './public-address.js'
import { rejected } from './rejection.js'

/**
 * Rejects requests of foreign web pages: a Host that is not ours (DNS rebinding) and an Origin that is not ours, also on
 * reads, which are what leaks (F80).
 */
export function knownHostAndOrigin(deps: HttpDeps, address: PublicAddress | undefined): MiddlewareHandler<HttpEnv> {
  const { allowedHosts = [], allowedOrigins = [], isOwnHost = () => false } = deps
  const hosts = new Set(allowedHosts.map((host) => host.toLowerCase()))
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  return function checkHostAndOrigin(c, next) {
    // HTTP/2 and in-process requests have no Host header; their URL says the same.
    const host = (c.req.header('host') ?? new URL(c.req.url).host).toLowerCase()
    const name = host.replace(PORT, '')
    // An allowed name is for any port, or has the one that it is for.
    const isAllowed =
      LOOPBACK.test(name) || host === address?.host || hosts.has(name) || hosts.has(host) || isOwnHost(name)
    if (!isAllowed) throw rejected(c, refusedHost(host))
    const origin = c.req.header('origin')
    const own = host === address?.host ? [address.origin] : [`http://${host}`, `https://${host}`]
    if (origin !== undefined && !isAllowedOrigin(origin, own, origins)) throw rejected(c, refusedOrigin(origin))
    return next()
  }
}

const PORT = /:\d{1,5}$/
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/**
 * Whether pages of an origin may call: those of this machine, of the gateway itself, and allowed ones. `null` (sandboxed
 * frames, files) is refused.
 * @param own The origins that the gateway has by the Host of the request, which was checked before
 */
function isAllowedOrigin(origin: string, own: readonly string[], allowed: ReadonlySet<string>): boolean {
  const given = origin.toLowerCase()
  const address = /^https?:\/\/([^/?#@\s]+)$/.exec(given)?.[1]
  if (allowed.has(given)) return true
  if (address === undefined) return false
  return own.includes(given) || LOOPBACK.test(address.replace(PORT, ''))
}

/**
 * Lets pages of the named origins read answers (CORS). Loopback origins may call, and read nothing. Preflights have no token,
 * so they are answered before tokens are checked; those of other origins get no answer that allows anything.
 */
export function allowedOriginsOnly(allowedOrigins: readonly string[]): MiddlewareHandler<HttpEnv> {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  const allow = cors({
    origin: (origin) => origin,
    allowMethods: ['GET', 'POST', 'PATCH', 'DELETE'],
    allowHeaders: [
      'authorization',
      'content-type',
      'last-event-id',
      'acp-connection-id',
      'acp-session-id',
      'acp-client-id',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'traceparent',
      'tracestate',
    ],
    exposeHeaders: ['acp-connection-id', 'acp-session-id'],
    maxAge: 600,
  })
  return function allowOrigin(c, next) {
    const origin = c.req.header('origin')
    return origin !== undefined && origins.has(origin.toLowerCase()) ? allow(c, next) : next()
  }
}

/**
 * Accepts only requests with a known token whose scope covers the route, and sets its principal. A session that it may not
 * use is reported as not found. The owner passes without a lookup in the table.
 */
export function knownCaller({ authenticate, browsers, sessions }: HttpDeps): MiddlewareHandler<HttpEnv> {
  return function checkCaller(c, next) {
    const token = BEARER.exec(c.req.header('authorization') ?? '')?.[1] ?? (browsers && cookieToken(c))
    const by = token === undefined ? undefined : authenticate(token)
    if (by === undefined) throw rejected(c, refusedToken(token))
    c.set('by', by)
    const { admit, rejectNamedTokens } = (c.env ?? {}) as ServerEnv
    if (by.type === 'token' && rejectNamedTokens === true) throw rejected(c, refusedNamedToken())
    admit?.(by)
    // Most calls are the owner's: no extra promise for them.
    return by.type === 'owner' ? next() : checkScope(c, next, sessions)
  }
}

async function checkScope(c: HttpContext, next: Next, sessions: Pick<SessionService, 'get'>): Promise<void> {
  const by = c.get('by')
  const route = routeOf(c)
  // Only a refusal or the list of methods answers there.
  if (route === undefined) return next()
  const scope = scopeOfRoute(route.key)
  if (!mayUse(by, scope)) c.set('rejected', true)
  assertMayUse(by, scope)
  const within = boundsOf(by, scope)
  if (within === undefined) return next()
  c.set('within', within)
  if (route.sessionId !== undefined) await sessions.get(route.sessionId, within)
  return next()
}

interface MatchedRoute {
  /** Its key in the table. */
  readonly key: string
  readonly sessionId: string | undefined
}

/** The route that will answer; undefined if no route has the method. */
function routeOf(c: HttpContext): MatchedRoute | undefined {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
  // If the app is mounted under a prefix, every path starts with it, also the path of this middleware.
  const prefix = routePath(c).slice(0, -'/*'.length)
  const matched = matchedRoutes(c).find((route) => isAnswer(route, method, prefix))
  if (matched === undefined) return undefined
  const pattern = matched.path.slice(prefix.length)
  return { key: `${matched.method} ${pattern}`, sessionId: segmentOf(c.req.path, matched.path) }
}

/** All others are middleware, and answers to unsupported methods. */
const isAnswer = (route: { readonly method: string; readonly path: string }, method: string, prefix: string): boolean =>
  route.method === method ||
  (route.method === 'ALL' && scopeOfRoute(`ALL ${route.path.slice(prefix.length)}`) !== undefined)

/** The id of the session in a path, decoded as for its handler. */
function segmentOf(path: string, pattern: string): string | undefined {
  const at = pattern.split('/').indexOf(':id')
  const segment = at < 0 ? undefined : path.split('/')[at]
  if (segment === undefined) return undefined
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** What the server gives with a request. Another server, and a test, gives none of it. */
interface ServerEnv {
  /** Bounds the requests that a caller has open. @throws `request_limit_reached` */
  readonly admit?: (by: Principal) => void
  /** The listener is one that only the owner and the agents of this machine may use. */
  readonly rejectNamedTokens?: boolean
}

const BEARER = /^bearer +([^\s]+)\s*$/i

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

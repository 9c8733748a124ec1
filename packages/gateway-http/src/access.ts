import { assertMayUse, boundsOf, mayUse, scopeOfRoute, type SessionService } from '@agentproto/contracts/wire'
import type { MiddlewareHandler, Next } from 'hono'
import { matchedRoutes, routePath } from 'hono/route'
import type { HttpContext, HttpEnv } from './http-deps.js'

/**
 * Checks that the scope of a principal covers the route. A session that it may not use is reported as not found. The owner
 * passes without a lookup in the table.
 */
export function withinScope(sessions: Pick<SessionService, 'get'>): MiddlewareHandler<HttpEnv> {
  return function checkScope(c, next) {
    // Most calls are the owner's: no extra promise for them.
    return c.get('by').type === 'owner' ? next() : checkBounds(c, next)
  }

  async function checkBounds(c: HttpContext, next: Next): Promise<void> {
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
  route.method === method || (route.method === 'ALL' && route.path === `${prefix}/mcp`)

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

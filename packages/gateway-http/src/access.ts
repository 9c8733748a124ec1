import { assertMayUse, boundsOf, mayUse, scopeOfRoute, type SessionService } from '@agentproto/contracts/wire'
import type { MiddlewareHandler, Next } from 'hono'
import { matchedRoutes, routePath } from 'hono/route'
import type { HttpContext, HttpEnv } from './http-deps.js'

/**
 * Lets a principal through to what its scope covers. A session that it does not reach is not found, as if it were not
 * there. The owner, who may do everything, passes without a look at the table.
 */
export function withinScope(sessions: Pick<SessionService, 'get'>): MiddlewareHandler<HttpEnv> {
  return function checkScope(c, next) {
    // Not a promise more than there must be: most calls are the owner's, and each passes here.
    return c.get('by').type === 'owner' ? next() : checkBounds(c, next)
  }

  async function checkBounds(c: HttpContext, next: Next): Promise<void> {
    const by = c.get('by')
    const route = routeOf(c)
    // Nothing answers there but a refusal, or the list of methods.
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
  /** As it stands in the table. */
  readonly key: string
  readonly sessionId: string | undefined
}

/** The route that will answer; undefined where none takes the method. */
function routeOf(c: HttpContext): MatchedRoute | undefined {
  const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
  // An app that is mounted under a prefix has it before every path, this middleware's too.
  const prefix = routePath(c).slice(0, -'/*'.length)
  const matched = matchedRoutes(c).find((route) => isAnswer(route, method, prefix))
  if (matched === undefined) return undefined
  const pattern = matched.path.slice(prefix.length)
  return { key: `${matched.method} ${pattern}`, sessionId: segmentOf(c.req.path, matched.path) }
}

/** The rest are middleware, and answers to methods that a path does not take. */
const isAnswer = (route: { readonly method: string; readonly path: string }, method: string, prefix: string): boolean =>
  route.method === method || (route.method === 'ALL' && route.path === `${prefix}/mcp`)

/** The id of the session that a path names, as its handler will read it. */
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

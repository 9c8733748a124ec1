import type { MiddlewareHandler, Next } from 'hono'
import type { HttpContext, HttpEnv } from './http-deps.js'

/**
 * Tells where a new resource is as seen from the request (RFC 9110 §10.2.2): whoever mounts the app below a prefix
 * may have cut it off before we see it, so that no absolute path that we could name is sure to be right.
 */
export function relativeLocation(): MiddlewareHandler<HttpEnv> {
  return function relateLocation(c, next) {
    return c.req.method === 'POST' ? related(c, next) : next()
  }

  async function related(c: HttpContext, next: Next): Promise<void> {
    // Of this handler it is `<prefix>/*`.
    const prefix = c.req.routePath.slice(0, -2)
    await next()
    const location = c.res.status === 201 ? c.res.headers.get('location') : null
    if (location === null || !location.startsWith('/')) return
    const depth = c.req.path.slice(prefix.length).split('/').length - 2
    c.res.headers.set('location', '../'.repeat(depth) + location.slice(1))
  }
}

import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './http-deps.js'

/**
 * Tells where a new resource is as seen from the request (RFC 9110 §10.2.2): whoever mounts the app below a prefix
 * may have cut it off before we see it, so that no absolute path that we could name is sure to be right.
 */
export function relativeLocation(): MiddlewareHandler<HttpEnv> {
  return async function relateLocation(c, next) {
    if (c.req.method !== 'POST') return next()
    // Of this handler it is `<prefix>/*`.
    const prefix = c.req.routePath.slice(0, -2)
    await next()
    const location = c.res.status === 201 ? c.res.headers.get('location') : null
    if (location === null || !location.startsWith('/')) return undefined
    const depth = c.req.path.slice(prefix.length).split('/').length - 2
    c.res.headers.set('location', '../'.repeat(depth) + location.slice(1))
    return undefined
  }
}

import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './http-deps.js'

const PREFLIGHT = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers':
    'authorization, content-type, last-event-id, mcp-protocol-version, mcp-method, mcp-name, traceparent, tracestate',
  'access-control-max-age': '600',
} as const

/**
 * Lets the pages of the named origins read answers (CORS). Loopback origins are not meant by it: they may call,
 * and read nothing.
 */
export function crossOrigin(allowedOrigins: readonly string[]): MiddlewareHandler<HttpEnv> {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  return async function allowOrigin(c, next) {
    const origin = c.req.header('origin')
    if (origin === undefined || !origins.has(origin.toLowerCase())) return next()
    const allow = { 'access-control-allow-origin': origin, vary: 'origin' }
    // A preflight bears no token; it is answered before tokens are asked for.
    if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { ...allow, ...PREFLIGHT } })
    await next()
    for (const [name, value] of Object.entries(allow)) c.res.headers.set(name, value)
    return undefined
  }
}

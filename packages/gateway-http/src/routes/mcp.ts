import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'

/** `/mcp`: streamable HTTP, answered by the MCP endpoint, which knows its own methods. */
export function mcpRoutes(mcp: NonNullable<HttpDeps['mcp']>): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  app.all('/', (c) => mcp(c.req.raw, callerOf(c)))
  return app
}

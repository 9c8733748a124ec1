import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'

/** `/mcp`: streamable HTTP, answered by the MCP endpoint, which knows its own methods. */
export function mcpRoutes(mcp: NonNullable<HttpDeps['mcp']>): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  app.all('/', async function answerRpc(c) {
    const answer = await mcp(c.req.raw, callerOf(c))
    answer.headers.set('cache-control', 'no-store')
    answer.headers.set('x-content-type-options', 'nosniff')
    return answer
  })
  return app
}

import { AgentprotoError } from '@agentproto/contracts'
import { Hono } from 'hono'
import { allowedOriginsOnly, knownCaller, knownHostAndOrigin } from './guard.js'
import { acpHandlers } from './handlers/acp.js'
import { adapterHandlers } from './handlers/adapters.js'
import { archiveHandlers } from './handlers/archive.js'
import { browserLoginHandlers } from './handlers/browser-login.js'
import { changeHandlers } from './handlers/changes.js'
import { hostHandlers } from './handlers/host.js'
import { sessionHandlers } from './handlers/sessions.js'
import { streamHandlers } from './handlers/streams.js'
import { worktreeHandlers } from './handlers/worktrees.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from './http-deps.js'
import { addConsole } from './console-page.js'
import { publicAddress } from './public-address.js'
import { errorHandler, problem } from './rejection.js'
import { addRoutes, type Handlers, pathsOf } from './route.js'
import { createStreams } from './streams/streams.js'

/**
 * Creates the HTTP surface of AIP-46 (§HTTP surface, §SSE event format) and its additions, from the table of operations in
 * contracts. It never listens: give its `fetch` to a server.
 *
 * Every operation but the open ones needs a token whose scope covers it, as a bearer token or in a browser's cookie. Host
 * and Origin are always checked. Refusals are RFC 9457 problem documents with a `code` of the error table.
 */
export function createHttpApp(deps: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>({ strict: false })
  const streams = createStreams(deps)
  const address = deps.publicUrl === undefined ? undefined : publicAddress(deps.publicUrl)
  const { browsers } = deps as Required<HttpDeps>
  const handlers: Handlers = {
    ...sessionHandlers(deps, streams),
    ...streamHandlers(deps, streams),
    ...archiveHandlers(deps),
    ...worktreeHandlers(deps),
    ...changeHandlers(deps),
    ...adapterHandlers(deps, streams),
    ...hostHandlers(deps, streams),
    ...acpHandlers(deps, streams),
    ...browserLoginHandlers(browsers, address),
  }
  app.onError(errorHandler(deps))
  app.notFound(noRoute)
  app.use(knownHostAndOrigin(deps, address))
  if (deps.allowedOrigins?.length) app.use(allowedOriginsOnly(deps.allowedOrigins))
  addRoutes(
    app,
    handlers,
    pathsOf(deps, ({ scope }) => scope === 'open'),
  )
  if (deps.consoleFiles) addConsole(app, deps.consoleFiles)
  app.use(knownCaller(deps))
  addAgentChecks(app, deps)
  addRoutes(
    app,
    handlers,
    pathsOf(deps, ({ scope }) => scope !== 'open'),
  )
  return app
}

/** Below `/agents/:agent/sessions` are the sessions of one agent, as if there were no others. */
function addAgentChecks(app: HttpApp, { adapters, sessions }: HttpDeps): void {
  app.use('/agents/:agent/sessions/*', async function checkAgent(c, next) {
    await adapters.get(c.req.param('agent'))
    await next()
  })
  app.use('/agents/:agent/sessions/:id/*', async function checkAgentOfSession(c, next) {
    const agent = c.req.param('agent')
    const { id, adapterSlug } = await sessions.get(c.req.param('id'))
    if (adapterSlug !== agent)
      throw new AgentprotoError('session_not_found', `The agent ${agent} has no such session`, {
        given: id,
        hint: 'GET /sessions lists the sessions of all agents',
      })
    await next()
  })
}

function noRoute(c: HttpContext): Response {
  const given = `${c.req.method} ${c.req.path}`
  return problem(new AgentprotoError('route_not_found', 'Unknown route', { given, hint: 'See GET /openapi.json' }))
}

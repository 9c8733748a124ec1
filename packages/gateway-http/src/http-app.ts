import { Hono } from 'hono'
import { withinScope } from './access.js'
import type { HttpApp, HttpDeps, HttpEnv } from './http-deps.js'
import { crossOrigin } from './cross-origin.js'
import { knownHostAndOrigin, knownToken, plainBodies } from './guard.js'
import { answerError, answerNoRoute } from './problem-reply.js'
import { relativeLocation } from './relative-location.js'
import { archiveRoutes, searchRoutes, sessionArchiveRoutes } from './routes/archive.js'
import { adapterRoutes, secretRoutes } from './routes/adapters.js'
import { codeRoutes, exchangeRoutes } from './routes/auth.js'
import { healthRoutes } from './routes/health.js'
import { mcpRoutes } from './routes/mcp.js'
import { metricsRoutes } from './routes/metrics.js'
import { openApiRoutes } from './routes/openapi.js'
import { requestRoutes } from './routes/requests.js'
import { sessionRuleRoutes, workspaceRuleRoutes } from './routes/rules.js'
import { agentSessionRoutes, sessionCollectionRoutes } from './routes/session-collection.js'
import { sessionRequestRoutes } from './routes/session-requests.js'
import { sessionRoutes } from './routes/sessions.js'
import { streamRoutes } from './routes/streams.js'
import { tokenRoutes } from './routes/tokens.js'
import { turnRoutes } from './routes/turns.js'
import { watchRoutes } from './routes/watch.js'
import { workspaceRoutes } from './routes/workspaces.js'
import { createStreams, type Streams } from './streams.js'

/** Where the sessions of one agent are. */
const AGENT_SESSIONS = '/agents/:agent/sessions'

/**
 * Makes the HTTP surface of AIP-46 (§HTTP surface, §SSE event format) and what DESIGN §5 adds to it. It
 * never listens: hand its `fetch` to a server.
 *
 * Every route but `/health` and `/auth/exchange` needs a token whose scope covers it, as a bearer or in a browser's cookie (`ROUTE_SCOPES` of contracts); Host and Origin are checked on all. Refusals are RFC 9457
 * problem documents, `application/problem+json`, with a `code` of the error table.
 * @param deps The services it serves, and how strict it is; see {@link HttpDeps}
 */
export function createHttpApp(deps: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>({ strict: false })
  const streams = createStreams(deps)
  app.onError(answerError(deps))
  app.notFound(answerNoRoute)
  app.use(knownHostAndOrigin(deps))
  if (deps.allowedOrigins?.length) app.use(crossOrigin(deps.allowedOrigins))
  app.route('/health', healthRoutes(deps))
  if (deps.browsers) app.route('/auth/exchange', exchangeRoutes(deps.browsers))
  app.use(knownToken(deps))
  app.use(withinScope(deps.sessions))
  app.use(plainBodies)
  app.use(relativeLocation())
  app.route('/sessions', sessionCollectionRoutes(deps))
  app.route(AGENT_SESSIONS, agentSessionRoutes(deps))
  const rules = deps.permissions === undefined ? [] : [sessionRuleRoutes(deps.permissions)]
  if (deps.archive) {
    app.route('/sessions', archiveRoutes(deps.archive))
    app.route('/search', searchRoutes(deps.archive))
  }
  for (const routes of [
    sessionRoutes(deps, streams),
    turnRoutes(deps),
    streamRoutes(deps, streams),
    sessionRequestRoutes(deps),
    ...rules,
    sessionArchiveRoutes(deps),
  ]) {
    app.route('/sessions', routes)
    app.route(AGENT_SESSIONS, routes)
  }
  hostRoutes(app, deps, streams)
  return app
}

/** What is of the gateway and not of one session. */
function hostRoutes(app: HttpApp, deps: HttpDeps, streams: Streams): void {
  app.route('/requests', requestRoutes(deps))
  app.route('/events', watchRoutes(deps, streams))
  app.route('/workspaces', workspaceRoutes(deps))
  app.route('/adapters', adapterRoutes(deps, streams))
  app.route('/secrets', secretRoutes(deps))
  if (deps.browsers) app.route('/auth/code', codeRoutes(deps.browsers))
  if (deps.tokens) app.route('/tokens', tokenRoutes(deps.tokens))
  if (deps.openApi) app.route('/openapi.json', openApiRoutes(deps.openApi))
  if (deps.permissions) app.route('/workspaces', workspaceRuleRoutes(deps.permissions))
  if (deps.metrics) app.route('/metrics', metricsRoutes(deps.metrics, streams))
  if (deps.mcp) app.route('/mcp', mcpRoutes(deps.mcp))
}

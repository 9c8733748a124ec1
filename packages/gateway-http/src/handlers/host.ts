import { visibleHosts, visibleWorkspaces } from '@agentproto/contracts/wire'
import type { HttpDeps } from '../http-deps.js'
import { assertNotEncoded, textReply } from '../json-body.js'
import type { Handlers } from '../route.js'
import type { Streams } from '../streams/streams.js'

/** The text format of Prometheus. */
const METRICS_TYPE = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } as const

/** What belongs to the gateway and not to one session: workspaces, rules, tokens, and the gateway itself. */
export function hostHandlers(deps: HttpDeps, streams: Streams) {
  const { workspaces, health, version, revoked } = deps
  // The routes of a service that is absent are not added.
  const { hosts, permissions, tokens, notifications, gateway, mcp, metrics, openApi } = deps as Required<HttpDeps>
  return {
    'GET /health': () => ({ ...health?.(), ok: true, version }),
    'GET /gateway': () => gateway(),
    'GET /openapi.json': async () => (await openApi()) as { readonly openapi: '3.1.1' },
    'GET /metrics': async () => textReply(await metrics(streams.stats()), 200, METRICS_TYPE),
    async 'ALL /mcp'({ c, by }) {
      assertNotEncoded(c)
      const answer = await mcp(c.req.raw, by, revoked?.(c.get('by')))
      answer.headers.set('cache-control', 'no-store')
      answer.headers.set('x-content-type-options', 'nosniff')
      return answer
    },

    'GET /workspaces': async ({ by }) => visibleWorkspaces(await workspaces.list(), by),
    'POST /workspaces': ({ body, by }) => workspaces.add(body, by),
    async 'DELETE /workspaces/:slug'({ params: { slug }, by }) {
      await workspaces.remove(slug, by)
      return { ok: true, slug }
    },
    'POST /workspaces/:slug/use': ({ params, by }) => workspaces.use(params.slug, by),

    'GET /hosts': async ({ by }) => ({ hosts: visibleHosts(await hosts.list(), by) }),

    async 'GET /rules'() {
      const { workspaces: known } = await workspaces.list()
      return permissions.allRules(known.map(({ slug }) => slug))
    },
    'GET /sessions/:id/rules': async ({ params }) => ({ rules: await permissions.rules({ sessionId: params.id }) }),
    'POST /sessions/:id/rules': ({ params, body, by }) => permissions.addRule({ sessionId: params.id }, body, by),
    async 'DELETE /sessions/:id/rules/:ruleId'({ params: { id, ruleId }, by }) {
      await permissions.removeRule({ sessionId: id }, ruleId, by)
      return { ok: true, ruleId }
    },
    'GET /workspaces/:slug/rules': async ({ params }) => ({
      rules: await permissions.rules({ workspaceSlug: params.slug }),
    }),
    'POST /workspaces/:slug/rules': ({ params, body, by }) =>
      permissions.addRule({ workspaceSlug: params.slug }, body, by),
    async 'DELETE /workspaces/:slug/rules/:ruleId'({ params: { slug, ruleId }, by }) {
      await permissions.removeRule({ workspaceSlug: slug }, ruleId, by)
      return { ok: true, ruleId }
    },

    'GET /notifications': () => notifications.state(),
    'POST /notifications/test': ({ by }) => notifications.test(by),

    'GET /tokens': async () => ({ tokens: await tokens.list() }),
    'POST /tokens': ({ body, by }) => tokens.create(body, by),
    'DELETE /tokens/:name': async ({ params: { name }, query, by }) => ({
      ok: true,
      name,
      ...(await tokens.revoke(name, by, query)),
    }),
    'POST /tokens/:name/rotate': ({ params, body, by }) => tokens.rotate(params.name, by, body),
  } satisfies Partial<Handlers>
}

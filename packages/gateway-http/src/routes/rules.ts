import { type AddRuleRequest, addRuleSchema, type PermissionService, type RuleScope } from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { workspaceRuleSchema } from '../query-schemas.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/sessions/:id/rules` and `/workspaces/:slug/rules`: what is allowed and denied without a person. */

export const sessionRuleRoutes = (permissions: PermissionService): HttpApp =>
  ruleRoutes(permissions, '/:id', { schema: addRuleSchema, scopeOf: (c) => ({ sessionId: param(c, 'id') }) })

export const workspaceRuleRoutes = (permissions: PermissionService): HttpApp =>
  ruleRoutes(permissions, '/:slug', {
    schema: workspaceRuleSchema,
    scopeOf: (c) => ({ workspaceSlug: param(c, 'slug') }),
  })

interface Collection {
  readonly schema: typeof addRuleSchema | typeof workspaceRuleSchema
  readonly scopeOf: (c: HttpContext) => RuleScope
}

function ruleRoutes(permissions: PermissionService, at: string, { schema, scopeOf }: Collection): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function list(c: HttpContext): Promise<Response> {
    return taggedJson(c, { rules: await permissions.rules(scopeOf(c)) })
  }

  async function add(c: HttpContext): Promise<Response> {
    const request: AddRuleRequest = await readBody(c, schema)
    return json(await permissions.addRule(scopeOf(c), request, callerOf(c)), 201)
  }

  async function remove(c: HttpContext): Promise<Response> {
    const ruleId = param(c, 'ruleId')
    await permissions.removeRule(scopeOf(c), ruleId, callerOf(c))
    return json({ ok: true, ruleId })
  }

  resource(app, `${at}/rules`, { GET: list, POST: add })
  resource(app, `${at}/rules/:ruleId`, { DELETE: remove })
  return app
}

import { addRuleSchema, type PermissionService, type RuleScope } from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/sessions/:id/rules` and `/workspaces/:slug/rules`: what is allowed and denied without a person. */

export const sessionRuleRoutes = (permissions: PermissionService): HttpApp =>
  ruleRoutes(permissions, '/:id', (c) => ({ sessionId: param(c, 'id') }))

export const workspaceRuleRoutes = (permissions: PermissionService): HttpApp =>
  ruleRoutes(permissions, '/:slug', (c) => ({ workspaceSlug: param(c, 'slug') }))

function ruleRoutes(permissions: PermissionService, at: string, scopeOf: (c: HttpContext) => RuleScope): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function list(c: HttpContext): Promise<Response> {
    return taggedJson(c, { rules: await permissions.rules(scopeOf(c)) })
  }

  async function add(c: HttpContext): Promise<Response> {
    const request = await readBody(c, addRuleSchema)
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

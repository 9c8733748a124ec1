import { addWorkspaceSchema, visibleWorkspaces } from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/workspaces`: the named folders of AIP-46 §Workspaces. */
export function workspaceRoutes({ workspaces }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function add(c: HttpContext): Promise<Response> {
    const { path, slug, label, use } = await readBody(c, addWorkspaceSchema)
    const named = { ...(slug === undefined ? {} : { slug }), ...(label === undefined ? {} : { label }) }
    const request = { path, ...named, ...(use === undefined ? {} : { use }) }
    const workspace = await workspaces.add(request, callerOf(c))
    return json(workspace, 201, { location: `/workspaces/${encodeURIComponent(workspace.slug)}` })
  }

  async function remove(c: HttpContext): Promise<Response> {
    const slug = param(c, 'slug')
    await workspaces.remove(slug, callerOf(c))
    return json({ ok: true, slug })
  }

  resource(app, '/', {
    GET: async (c) => taggedJson(c, visibleWorkspaces(await workspaces.list(), c.get('by'))),
    POST: add,
  })
  resource(app, '/:slug', { DELETE: remove })
  resource(app, '/:slug/use', { POST: async (c) => json(await workspaces.use(param(c, 'slug'), callerOf(c))) })
  return app
}

import { createTokenSchema } from '@agentproto/contracts'
import type { TokenService } from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import { taggedJson } from '../etag.js'
import { given } from '../given.js'
import type { HttpApp, HttpContext, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/tokens`: the named tokens. A value is in the answer that makes it, and nowhere else. */
export function tokenRoutes(tokens: TokenService): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function create(c: HttpContext): Promise<Response> {
    const { name, scope, ...bounds } = await readBody(c, createTokenSchema)
    const made = await tokens.create({ name, scope, ...given(bounds) }, callerOf(c))
    return json(made, 201, { location: `/tokens/${encodeURIComponent(name)}` })
  }

  async function revoke(c: HttpContext): Promise<Response> {
    const name = param(c, 'name')
    await tokens.revoke(name, callerOf(c))
    return json({ ok: true, name })
  }

  resource(app, '/', { GET: async (c) => taggedJson(c, { tokens: await tokens.list() }), POST: create })
  resource(app, '/:name', { DELETE: revoke })
  resource(app, '/:name/rotate', { POST: async (c) => json(await tokens.rotate(param(c, 'name'), callerOf(c))) })
  return app
}

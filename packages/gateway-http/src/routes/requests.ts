import { Hono } from 'hono'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'
import { resource } from '../resource.js'

/** `/requests`: what the agents of all sessions ask. */
export function requestRoutes({ sessions }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', {
    GET: async (c) => taggedJson(c, { requests: await sessions.requests(undefined, c.get('within')) }),
  })
  return app
}

import { Hono } from 'hono'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'
import { json } from '../reply.js'
import { resource } from '../resource.js'

/** `/requests`: what the agents of all sessions ask. */
export function requestRoutes({ sessions }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', { GET: async () => json({ requests: await sessions.requests() }) })
  return app
}

import { Hono } from 'hono'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'
import { json } from '../reply.js'
import { resource } from '../resource.js'

/** `/health`: the one route without a token. It tells that a gateway is here, and nothing of its sessions. */
export function healthRoutes({ version, health }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', { GET: () => json({ ...health?.(), ok: true, version }) })
  return app
}

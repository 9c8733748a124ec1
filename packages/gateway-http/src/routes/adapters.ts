import { Hono } from 'hono'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/adapters`: what can be spawned. */
export function adapterRoutes({ adapters }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', { GET: async () => json({ adapters: await adapters.list() }) })
  resource(app, '/:slug', { GET: async (c) => json(await adapters.get(param(c, 'slug'))) })
  return app
}

import { Hono } from 'hono'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'
import { resource } from '../resource.js'

/** `/openapi.json`: the document of all of these routes, made when it is first asked for. */
export function openApiRoutes(document: NonNullable<HttpDeps['openApi']>): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', { GET: async (c) => taggedJson(c, await document()) })
  return app
}

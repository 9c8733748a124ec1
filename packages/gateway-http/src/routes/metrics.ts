import { Hono } from 'hono'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'
import { resource } from '../resource.js'
import type { Streams } from '../streams.js'

const HEADERS = {
  'content-type': 'text/plain; version=0.0.4; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
} as const

/** `/metrics`: Prometheus' text format. */
export function metricsRoutes(metrics: NonNullable<HttpDeps['metrics']>, streams: Streams): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', { GET: async () => new Response(await metrics(streams.stats()), { headers: HEADERS }) })
  return app
}

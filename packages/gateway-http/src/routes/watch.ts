import { Hono } from 'hono'
import type { HttpApp, HttpDeps, HttpEnv } from '../http-deps.js'
import { resource } from '../resource.js'
import { changeMessages } from '../sse-messages.js'
import type { Streams } from '../streams.js'

/**
 * `GET /events`: changes of all sessions, `session` and `forgotten`. It starts with `ready`: who lists the
 * sessions after that misses nothing.
 */
export function watchRoutes({ sessions }: HttpDeps, streams: Streams): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()
  resource(app, '/', {
    GET: (c) =>
      streams.answer(c, () => Promise.resolve(changeMessages(sessions.watch(c.get('within')))), {
        hello: 'event: ready\ndata: {}\n\n',
      }),
  })
  return app
}

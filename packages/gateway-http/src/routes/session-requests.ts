import { answerRequestSchema, toAgentAnswer } from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/sessions/:id/requests`: what one agent asks, and the answers. */
export function sessionRequestRoutes({ sessions }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function answer(c: HttpContext): Promise<Response> {
    const given = toAgentAnswer(await readBody(c, answerRequestSchema))
    return json(await sessions.answer({ id: param(c, 'id'), requestId: param(c, 'requestId') }, given, callerOf(c)))
  }

  resource(app, '/:id/requests', {
    GET: async (c) => taggedJson(c, { requests: await sessions.requests(param(c, 'id')) }),
  })
  resource(app, '/:id/requests/:requestId', { POST: answer })
  return app
}

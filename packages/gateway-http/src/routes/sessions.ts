import {
  configRequestSchema,
  forkRequestSchema,
  interruptRequestSchema,
  killRequestSchema,
  outputQuerySchema,
  parseWire,
  promptRequestSchema,
  resumeRequestSchema,
} from '@agentproto/contracts'
import { Hono } from 'hono'
import { callerOf } from '../caller.js'
import { wantsEventStream } from '../accept.js'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { readBody } from '../json-body.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'
import type { Streams } from '../streams.js'
import { created } from './session-collection.js'
import { turnMessages } from '../turn-messages.js'

/** `/sessions/:id`: AIP-46 §HTTP surface, without its streams. */
export function sessionRoutes({ sessions }: HttpDeps, streams: Streams): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function prompt(c: HttpContext): Promise<Response> {
    const id = param(c, 'id')
    const request = await readBody(c, promptRequestSchema)
    if (wantsEventStream(c)) {
      return streams.answer(c, async () => turnMessages(sessions, id, await sessions.prompt(id, request, callerOf(c))))
    }
    const { turn } = await sessions.prompt(id, request, callerOf(c))
    if (request.wait !== true) return json({ ok: true, id, turn }, 202)
    // A client that is gone changes nothing (F1). The request's signal would only save this one waiter, and
    // asking for it costs as much as the rest of the request.
    return json({ ok: true, id, turn, result: await sessions.waitTurn(id, turn) })
  }

  async function configure(c: HttpContext): Promise<Response> {
    const request = await readBody(c, configRequestSchema)
    return json(await sessions.configure(param(c, 'id'), request, callerOf(c)))
  }

  async function fork(c: HttpContext): Promise<Response> {
    const request = await readBody(c, forkRequestSchema)
    return created(await sessions.fork(param(c, 'id'), request, callerOf(c)))
  }

  async function interrupt(c: HttpContext): Promise<Response> {
    const id = param(c, 'id')
    const request = await readBody(c, interruptRequestSchema)
    return json({ ok: true, id, ...(await sessions.interrupt(id, callerOf(c), request)) })
  }

  async function resume(c: HttpContext): Promise<Response> {
    const request = await readBody(c, resumeRequestSchema)
    return json(await sessions.resume(param(c, 'id'), request, callerOf(c)))
  }

  async function kill(c: HttpContext): Promise<Response> {
    const id = param(c, 'id')
    const { reason } = await readBody(c, killRequestSchema)
    const { ok } = await sessions.kill(id, callerOf(c), reason)
    return json({ ok, id })
  }

  async function forget(c: HttpContext): Promise<Response> {
    const id = param(c, 'id')
    await sessions.forget(id, callerOf(c))
    return json({ ok: true, id })
  }

  async function output(c: HttpContext): Promise<Response> {
    const { lastN } = parseWire(outputQuerySchema, c.req.query(), 'query')
    return json({ lines: await sessions.output(param(c, 'id'), lastN) })
  }

  resource(app, '/:id', { GET: async (c) => taggedJson(c, await sessions.get(param(c, 'id'))), DELETE: forget })
  resource(app, '/:id/prompt', { POST: prompt })
  resource(app, '/:id/interrupt', { POST: interrupt })
  resource(app, '/:id/cancel', { POST: interrupt })
  resource(app, '/:id/resume', { POST: resume })
  resource(app, '/:id/config', { POST: configure })
  resource(app, '/:id/fork', { POST: fork })
  resource(app, '/:id/kill', { POST: kill })
  resource(app, '/:id/output', { GET: output })
  return app
}

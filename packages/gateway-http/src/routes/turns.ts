import { parseWire, type QueuedTurn, type TurnDetail, turnQuerySchema, turnsQuerySchema } from '@agentproto/contracts'
import { Hono } from 'hono'
import { taggedJson } from '../etag.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { json } from '../reply.js'
import { param, resource } from '../resource.js'

/** `/sessions/:id/turns`: a turn's number is the cursor to wait by, so that none is missed or taken for another. */
export function turnRoutes({ sessions, clock }: HttpDeps): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function list(c: HttpContext): Promise<Response> {
    const query = parseWire(turnsQuerySchema, c.req.query(), 'query')
    const turns = await sessions.turns(param(c, 'id'), query)
    return taggedJson(c, { turns, nextAfter: turns.at(-1)?.number ?? query.after ?? 0 })
  }

  async function get(c: HttpContext): Promise<Response> {
    const { waitSeconds } = parseWire(turnQuerySchema, c.req.query(), 'query')
    const id = param(c, 'id')
    const number = Number(param(c, 'turn'))
    if (waitSeconds === undefined) return json(await sessions.turn(id, number))
    return json(await ended(c, { id, number, waitMs: waitSeconds * 1_000 }))
  }

  /** The turn once it has ended, or as it is when the time is up. */
  async function ended(c: HttpContext, { id, number, waitMs }: Wait): Promise<TurnDetail | QueuedTurn> {
    const over = new AbortController()
    const timer = clock.after(waitMs, () => over.abort())
    try {
      await sessions.waitTurn(id, number, AbortSignal.any([over.signal, c.req.raw.signal]))
    } catch (thrown) {
      if (!over.signal.aborted) throw thrown
    } finally {
      timer.cancel()
    }
    return sessions.turn(id, number)
  }

  resource(app, '/:id/turns', { GET: list })
  resource(app, '/:id/turns/:turn', { GET: get })
  return app
}

interface Wait {
  readonly id: string
  readonly number: number
  readonly waitMs: number
}

import { AgentprotoError, eventsQuerySchema, isLive, parseWire } from '@agentproto/contracts'
import { Hono } from 'hono'
import { wantsEventStream } from '../accept.js'
import { eventPage } from '../event-page.js'
import type { HttpApp, HttpContext, HttpDeps, HttpEnv } from '../http-deps.js'
import { CURSOR } from '../query-schemas.js'
import { jsonText } from '../reply.js'
import { param, resource } from '../resource.js'
import { eventMessages, outputMessages } from '../sse-messages.js'
import type { Streams } from '../streams.js'

const DEFAULT_PAGE = 1_000

/** `/sessions/:id/stream` (AIP-46 §SSE event format) and `/sessions/:id/events`. */
export function streamRoutes({ sessions }: HttpDeps, streams: Streams): HttpApp {
  const app: HttpApp = new Hono<HttpEnv>()

  async function lines(c: HttpContext): Promise<Response> {
    const id = param(c, 'id')
    const cursor = outputCursor(c)
    const mayBeOver = !isLive(await sessions.get(id))
    return streams.answer(c, async () => outputMessages(await sessions.followOutput(id, cursor)), { mayBeOver })
  }

  async function events(c: HttpContext): Promise<Response> {
    const id = param(c, 'id')
    const { after = 0, limit = DEFAULT_PAGE } = parseWire(eventsQuerySchema, c.req.query(), 'query')
    if (!wantsEventStream(c)) return jsonText(eventPage(await sessions.events(id, after, limit), after))
    const from = lastEventId(c, /^\d{1,15}$/, 'a sequence number')
    const mayBeOver = !isLive(await sessions.get(id))
    const follow = (): Promise<ReturnType<typeof eventMessages>> =>
      sessions.follow(id, from === undefined ? after : Number(from)).then((reader) => eventMessages(reader))
    return streams.answer(c, follow, { mayBeOver })
  }

  resource(app, '/:id/stream', { GET: lines })
  resource(app, '/:id/events', { GET: events })
  return app
}

function outputCursor(c: HttpContext): string | undefined {
  return lastEventId(c, CURSOR, 'the id of a message, "<seq>.<n>"') ?? cursorOf(c.req.query('after'), 'after')
}

function cursorOf(given: string | undefined, field: string): string | undefined {
  if (given === undefined || given === '') return undefined
  if (CURSOR.test(given)) return given
  throw invalidCursor(field, 'the id of a message, "<seq>.<n>"', given)
}

/** A reconnecting EventSource keeps the `?after=` of its address: the header is the newer word. */
function lastEventId(c: HttpContext, shape: RegExp, expected: string): string | undefined {
  const given = c.req.header('last-event-id')
  if (given === undefined || given === '') return undefined
  if (shape.test(given)) return given
  throw invalidCursor('Last-Event-ID', expected, given)
}

const invalidCursor = (field: string, expected: string, given: string): AgentprotoError =>
  new AgentprotoError('invalid_request', `The field "${field}" is not valid`, { expected, given, data: { field } })

import { AgentprotoError, isLive } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import { type EventsPage, OUTPUT_CURSOR } from '@agentproto/contracts/wire'
import type { HttpContext, HttpDeps } from '../http-deps.js'
import { textReply, wantsEventStream } from '../json-body.js'
import type { Handlers } from '../route.js'
import { changeMessages, eventMessages, outputMessages } from '../streams/sse-messages.js'
import type { Streams } from '../streams/streams.js'

const DEFAULT_PAGE = 1_000
/** Characters after which a page is full, whatever its limit says: one event may hold 8 MiB. */
const PAGE_CHARS = 16 * 1024 * 1024

/** What is followed: a session as lines or as events, and the changes of all sessions. */
export function streamHandlers({ sessions }: HttpDeps, streams: Streams) {
  return {
    async 'GET /sessions/:id/stream'({ c, params: { id }, query }) {
      const cursor = lastEventId(c, OUTPUT_CURSOR, 'the id of a message, "<seq>.<n>"') ?? query.after
      const mayBeOver = !isLive(await sessions.get(id))
      return streams.answer(c, async () => outputMessages(await sessions.followOutput(id, cursor)), { mayBeOver })
    },
    async 'GET /sessions/:id/events'({ c, params: { id }, query: { after = 0, limit = DEFAULT_PAGE } }) {
      if (!wantsEventStream(c)) return textReply(eventsPage(await sessions.events(id, after, limit), after))
      const from = Number(lastEventId(c, /^\d{1,15}$/, 'a sequence number') ?? after)
      const mayBeOver = !isLive(await sessions.get(id))
      return streams.answer(c, async () => eventMessages(await sessions.follow(id, from)), { mayBeOver })
    },
    // After `ready` the reader is subscribed: a client that lists the sessions then misses nothing.
    'GET /events': ({ c, within }) =>
      streams.answer(c, async () => changeMessages(sessions.watch(within)), { hello: 'event: ready\ndata: {}\n\n' }),
  } satisfies Partial<Handlers>
}

/** A reconnecting EventSource keeps the `?after=` of its address, so the header is the newer cursor. */
function lastEventId(c: HttpContext, shape: RegExp, expected: string): string | undefined {
  const given = c.req.header('last-event-id')
  if (given === undefined || given === '') return undefined
  if (shape.test(given)) return given
  throw new AgentprotoError('invalid_request', 'The header Last-Event-ID is not valid', {
    expected,
    given,
    data: { field: 'Last-Event-ID' },
  })
}

/** One {@link EventsPage} as JSON, joined from the records as they are stored. */
function eventsPage({ records, gap }: EventBatch, after: number): string {
  const parts: string[] = []
  let chars = 0
  let nextAfter: EventsPage['nextAfter'] = gap === undefined ? after : gap.first - 1
  for (const { seq, json } of records) {
    if (chars > 0 && chars + json.length > PAGE_CHARS) break
    parts.push(json)
    chars += json.length
    nextAfter = seq
  }
  const notice = gap === undefined ? '' : `,"gap":${JSON.stringify(gap)}`
  return `{"events":[${parts.join(',')}],"nextAfter":${nextAfter}${notice}}`
}

import type { HttpContext, HttpDeps } from '../http-deps.js'
import { toOwnError } from '../rejection.js'
import { passedOn } from './passed-on.js'
import { sseBody, type SseSource } from './sse-body.js'
import { StreamPlaces } from './stream-places.js'

export type Streams = ReturnType<typeof createStreams>

interface StreamOptions {
  /** Messages that are sent first. */
  readonly hello?: string
  /** The source may be at its end: then the answer is 204, after which an EventSource does not reconnect. */
  readonly mayBeOver?: boolean
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Disables the buffers of nginx and other proxies (F67).
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
} as const

/** Milliseconds that a client waits before it reconnects. */
const RETRY = 'retry: 1000\n\n'

/** The open streams of one app. */
export function createStreams(deps: HttpDeps) {
  const { clock, keepAliveMs = 25_000, maxStreams = 640, onError } = deps
  const places = new StreamPlaces(deps, maxStreams)

  /** Answers with a stream of the source; a HEAD gets only the headers. */
  async function answer(
    c: HttpContext,
    openSource: () => Promise<SseSource>,
    options: StreamOptions = {},
  ): Promise<Response> {
    // Hono drops the body of a HEAD without cancelling it, so its source would never be closed.
    if (c.req.method === 'HEAD') return new Response(null, { headers: HEADERS })
    const { until, hold, leave } = places.enter(c)
    let source: SseSource | undefined
    try {
      source = hold(await openSource())
      const first = options.mayBeOver ? await source.next(c.req.raw.signal) : ''
      if (first === undefined) {
        source.close()
        leave()
        return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
      }
      const hello = RETRY + (options.hello ?? '') + first
      const farewell = farewellTo(c, onError)
      return new Response(sseBody(source, { clock, keepAliveMs, hello, signal: until, farewell, onEnd: leave }), {
        headers: HEADERS,
      })
    } catch (thrown) {
      source?.close()
      leave()
      throw thrown
    }
  }

  /** Passes a stream on that another part answers with, counted and ended like the others; any other answer as it is. */
  async function pass(c: HttpContext, openAnswer: () => Promise<Response>): Promise<Response> {
    const { until, hold, leave } = places.enter(c)
    try {
      const answered = await openAnswer()
      const isStream = answered.headers.get('content-type')?.startsWith('text/event-stream') === true
      if (answered.body === null || !isStream) {
        leave()
        return answered
      }
      const source = hold(passedOn(answered.body))
      // Its messages are those of another protocol: nothing of ours is put between them but comments.
      const options = { clock, keepAliveMs, hello: '', signal: until, farewell: () => '', onEnd: leave }
      return new Response(sseBody(source, options), { headers: HEADERS })
    } catch (thrown) {
      leave()
      throw thrown
    }
  }

  return { stats: () => places.stats(), answer, pass }
}

/** The last message of a stream that fails. It is not named `error`, which EventSource uses itself. */
function farewellTo(c: HttpContext, onError: HttpDeps['onError']): (thrown: unknown) => string {
  return function farewell(thrown) {
    const error = toOwnError(thrown)
    if (error !== thrown) onError?.(thrown, { method: c.req.method, path: c.req.path })
    return `event: problem\ndata: ${JSON.stringify(error.toProblem())}\n\n`
  }
}

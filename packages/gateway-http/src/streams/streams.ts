import { AgentprotoError, FairShares } from '@agentproto/contracts'
import type { StreamStats } from '@agentproto/contracts/wire'
import type { HttpContext, HttpDeps } from '../http-deps.js'
import { toOwnError } from '../rejection.js'
import { sseBody } from './sse-body.js'
import type { SseSource } from './sse-body.js'

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
  const { clock, keepAliveMs = 25_000, maxStreams = 640, signal, onError } = deps
  const sources = new Set<SseSource>()
  const shares = new FairShares(maxStreams)
  let open = 0
  let refused = 0

  /**
   * Takes a place before the source is opened, and refuses a stream beyond the limit or its caller's share.
   * @returns gives the place back; `given` aborts when another caller gets it
   */
  function admit(c: HttpContext): { readonly leave: () => void; readonly given: AbortSignal } {
    if (signal?.aborted) throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
    const given = new AbortController()
    const leave = shares.take(c.get('by'), () => given.abort())
    if (leave !== undefined) return { leave, given: given.signal }
    refused++
    throw new AgentprotoError('stream_limit_reached', 'Too many streams are open', {
      expected: `at most ${maxStreams}, of one caller ${shares.each}`,
      hint: 'Close a stream that is not needed, then try again',
    })
  }

  /** Answers with a stream of the source; a HEAD gets only the headers. */
  async function answer(
    c: HttpContext,
    openSource: () => Promise<SseSource>,
    options: StreamOptions = {},
  ): Promise<Response> {
    // Hono drops the body of a HEAD without cancelling it, so its source would never be closed.
    if (c.req.method === 'HEAD') return new Response(null, { headers: HEADERS })
    const place = admit(c)
    open++
    let source: SseSource | undefined
    const leave = (): void => {
      open--
      place.leave()
      if (source !== undefined) sources.delete(source)
    }
    try {
      source = await openSource()
      sources.add(source)
      const first = options.mayBeOver ? await source.next(c.req.raw.signal) : ''
      if (first === undefined) {
        source.close()
        leave()
        return new Response(null, { status: 204, headers: { 'cache-control': 'no-store' } })
      }
      const hello = RETRY + (options.hello ?? '') + first
      const farewell = farewellTo(c, onError)
      const until = endOf([place.given, signal, deps.revoked?.(c.get('by'))])
      return new Response(sseBody(source, { clock, keepAliveMs, hello, signal: until, farewell, onEnd: leave }), {
        headers: HEADERS,
      })
    } catch (thrown) {
      source?.close()
      leave()
      throw thrown
    }
  }

  function stats(): StreamStats {
    let behind = 0
    for (const source of sources) behind = Math.max(behind, source.behind?.() ?? 0)
    return { open, refused, behind }
  }

  return { stats, answer }
}

/** A signal that aborts with the first of several. */
const endOf = (signals: readonly (AbortSignal | undefined)[]): AbortSignal =>
  AbortSignal.any(signals.filter((each) => each !== undefined))

/** The last message of a stream that fails. It is not named `error`, which EventSource uses itself. */
function farewellTo(c: HttpContext, onError: HttpDeps['onError']): (thrown: unknown) => string {
  return function farewell(thrown) {
    const error = toOwnError(thrown)
    if (error !== thrown) onError?.(thrown, { method: c.req.method, path: c.req.path })
    return `event: problem\ndata: ${JSON.stringify(error.toProblem())}\n\n`
  }
}

import { AgentprotoError, type Clock, type Timer } from '@agentproto/contracts'
import type { AcpLimits } from './acp-endpoint.js'
import type { Connection } from './connections.js'
import { SESSION_ID, type StreamableHttp } from './sdk-server.js'
import { STREAM_HEADERS } from './stream-headers.js'
import { streamedBody } from './streamed-body.js'

/** Sessions that a connection names in its life, for each that it may have open: the transport keeps output for all of them. */
const NAMED_FOR_EACH = 8

interface Options {
  readonly http: StreamableHttp
  readonly limits: AcpLimits
  readonly clock: Clock
}

/** One connection of streamable HTTP: its requests and streams. It ends when there is none of them for too long. */
export class HttpConnection {
  readonly place: Connection
  readonly #options: Options
  readonly #sessions = new Set<string>()
  #streams = 0
  #requests = 0
  #idle: Timer | undefined

  constructor(place: Connection, options: Options) {
    this.place = place
    this.#options = options
    this.#rest()
  }

  /** @throws `stream_limit_reached`, `request_limit_reached` */
  async handle(request: Request): Promise<Response> {
    this.#checkBounds(request)
    this.#requests++
    this.#idle?.cancel()
    try {
      const response = await this.#options.http.handle(request)
      if (request.method === 'DELETE') this.place.end('Its client has deleted it')
      return response.body !== null && request.method === 'GET' && response.ok ? this.#streamed(response) : response
    } finally {
      this.#requests--
      this.#rest()
    }
  }

  stop(): void {
    this.#idle?.cancel()
  }

  #checkBounds({ method, headers }: Request): void {
    const { sessionStreams } = this.#options.limits
    // One more is that of the connection.
    if (method === 'GET' && this.#streams > sessionStreams) throw tooManyStreams(sessionStreams)
    const session = headers.get(SESSION_ID)
    if (session === null || this.#sessions.has(session)) return
    if (this.#sessions.size >= sessionStreams * NAMED_FOR_EACH) throw tooManySessions(sessionStreams * NAMED_FOR_EACH)
    this.#sessions.add(session)
  }

  #streamed(response: Response): Response {
    this.#streams++
    const body = streamedBody(response.body as ReadableStream<Uint8Array>, () => {
      this.#streams--
      this.#rest()
    })
    return new Response(body, { headers: STREAM_HEADERS })
  }

  #rest(): void {
    if (this.#requests > 0 || this.#streams > 0 || this.place.signal.aborted) return
    const { clock, limits } = this.#options
    this.#idle?.cancel()
    this.#idle = clock.after(limits.idleMs, () => this.place.end('It was idle for too long'))
  }
}

const tooManyStreams = (max: number): AgentprotoError =>
  new AgentprotoError('stream_limit_reached', 'The connection has too many streams open', {
    expected: `at most ${max} of sessions, and its own`,
    hint: 'Close the stream of a session that is not needed',
  })

const tooManySessions = (max: number): AgentprotoError =>
  new AgentprotoError('request_limit_reached', 'The connection has named too many sessions', {
    expected: `at most ${max}`,
    hint: 'Open another connection',
  })

import type { Stream } from '@agentclientprotocol/sdk'
import { asRecord, type Clock } from '@agentproto/contracts'
import type { AcpServer } from '../acp-host.js'
import type { ClientMessages } from '../client-messages.js'
import { isInitialize } from '../refused-message.js'
import type { AcpCaller } from '@agentproto/contracts/wire'
import type { AcpLimits } from './acp-endpoint.js'
import { type Connection, type Connections, isOwner, whenEnding } from './connections.js'
import { HttpConnection } from './http-connection.js'
import { httpMessages } from './http-messages.js'
import { readMessage } from './read-message.js'
import { CONNECTION_ID, type StreamableHttp } from './sdk-server.js'

export interface HttpOptions {
  readonly http: StreamableHttp
  readonly connections: Connections
  readonly limits: AcpLimits
  readonly clock: Clock
  readonly serve: (caller: AcpCaller, messages: ClientMessages) => AcpServer
}

/** The connections of streamable HTTP. Each ends when its client deletes it, or leaves it alone for too long. */
export class HttpConnections {
  readonly #options: HttpOptions
  readonly #open = new Map<string, HttpConnection>()

  constructor(options: HttpOptions) {
    this.#options = options
  }

  /** @throws `request_limit_reached`, `stream_limit_reached`, `payload_too_large`, `shutting_down` */
  async fetch(request: Request, caller: AcpCaller): Promise<Response> {
    const { http, limits } = this.#options
    const message = request.method === 'POST' ? await readMessage(request, limits.messageBytes) : undefined
    if (message !== undefined && 'refusal' in message) return message.refusal
    const id = request.headers.get(CONNECTION_ID)
    const passed = message?.request ?? request
    if (id === null) return isInitialize(message?.value) ? this.#initialize(passed, caller) : http.handle(passed)
    const connection = this.#open.get(id)
    // Whose it is, another caller does not learn.
    if (connection === undefined || !isOwner(connection.place, caller)) return unknownConnection()
    return connection.handle(passed)
  }

  async #initialize(request: Request, caller: AcpCaller): Promise<Response> {
    const { http, connections, limits, clock, serve } = this.#options
    const place = connections.open(caller)
    const onStalled = (): void => place.end('Its client does not read')
    const served = (stream: Stream): AcpServer => {
      const server = serve(caller, httpMessages(stream, { clock, stallMs: limits.stallMs, onStalled }))
      void server.closed.then(() => place.end('It was closed'))
      return server
    }
    let id: string | null = null
    try {
      const response = await http.handle(request, served)
      id = response.headers.get(CONNECTION_ID)
      // A connection is initialized once, so this one could never be used.
      if (id !== null && (await isError(response.clone()))) place.end('It was not initialized')
      return response
    } finally {
      if (id === null) place.leave()
      else this.#keep(id, place)
    }
  }

  #keep(id: string, place: Connection): void {
    const connection = new HttpConnection(place, this.#options)
    this.#open.set(id, connection)
    whenEnding(place, () => {
      this.#open.delete(id)
      connection.stop()
      place.leave()
      void this.#options.http.end(id)
    })
  }
}

const isError = async (response: Response): Promise<boolean> => 'error' in asRecord(await response.json())

const unknownConnection = (): Response => new Response('Unknown Acp-Connection-Id', { status: 404 })

import { AgentprotoError, isRecord } from '@agentproto/contracts'
import { invalidMessage, isInitialize } from '../refused-message.js'
import type { AcpCaller } from '@agentproto/contracts/wire'
import type { Connections } from './connections.js'
import { OneStreamConnection, type OneStreamOptions } from './one-stream-connection.js'
import { readMessage } from './read-message.js'

/** The header with which a client names its connection itself. */
export const CLIENT_ID = 'acp-client-id'

const LAST_EVENT_ID = 'last-event-id'

interface Options extends OneStreamOptions {
  readonly connections: Connections
}

/**
 * The connections of clients with one event stream for all of it, such as the package `acp-http-client`: no id of a connection
 * comes from the server, every answer comes in the stream, and the stream may be opened before `initialize` is sent. The id is
 * the client's own, so it names a connection only together with the caller and the path.
 */
export class OneStreamConnections {
  readonly #options: Options
  readonly #open = new Map<string, OneStreamConnection>()

  constructor(options: Options) {
    this.#options = options
  }

  /** @throws `invalid_request`, `method_not_allowed`, `payload_too_large`, `request_limit_reached`, `shutting_down` */
  async fetch(request: Request, caller: AcpCaller): Promise<Response> {
    const key = keyOf(request, caller)
    switch (request.method) {
      case 'POST':
        return this.#post(request, { key, caller })
      case 'GET':
        return this.#stream(request, { key, caller })
      case 'DELETE':
        return this.#delete(key)
      default:
        throw new AgentprotoError('method_not_allowed', 'ACP does not use this method', {
          expected: 'POST, GET or DELETE',
          given: request.method,
        })
    }
  }

  async #post(request: Request, named: Named): Promise<Response> {
    assertJson(request)
    const message = await readMessage(request, this.#options.limits.messageBytes)
    if ('refusal' in message) return message.refusal
    const { value } = message
    if (!isRecord(value)) return Response.json(invalidMessage(null, 'a message is one object'), { status: 400 })
    const begins = isInitialize(value)
    // The client may have opened its stream first.
    const connection = this.#open.get(named.key) ?? (begins ? this.#opened(named) : undefined)
    if (connection === undefined) return unknownConnection()
    if (begins === connection.isGreeted) throw begins ? inUse() : notGreeted()
    await connection.receive(value)
    return new Response(undefined, { status: 202 })
  }

  #stream({ headers }: Request, named: Named): Response {
    const last = headers.get(LAST_EVENT_ID)
    const open = this.#open.get(named.key)
    // It had a connection, which has ended: it would wait for an answer that never comes.
    if (open === undefined && last !== null) return unknownConnection()
    const connection = open ?? this.#opened(named)
    return connection.stream(last === null ? undefined : Number(last)) ?? unknownConnection()
  }

  #delete(key: string): Response {
    const connection = this.#open.get(key)
    if (connection === undefined) return unknownConnection()
    connection.place.end('Its client has deleted it')
    return new Response(undefined, { status: 202 })
  }

  /** @throws `request_limit_reached`, `shutting_down` */
  #opened({ key, caller }: Named): OneStreamConnection {
    const { connections } = this.#options
    const place = connections.open(caller)
    const connection = new OneStreamConnection(place, this.#options)
    this.#open.set(key, connection)
    void connection.closed.then(() => {
      this.#open.delete(key)
      place.leave()
    })
    return connection
  }
}

/** A connection that a request names. */
interface Named {
  readonly key: string
  readonly caller: AcpCaller
}

const ID = /^[A-Za-z0-9_-]{1,128}$/

/** Another caller's id, and the same id at another path, are other connections. @throws `invalid_request` */
function keyOf({ headers }: Request, { by, agent }: AcpCaller): string {
  const id = headers.get(CLIENT_ID) ?? ''
  if (ID.test(id)) return JSON.stringify([by.type, by.name, agent ?? null, id])
  throw new AgentprotoError('invalid_request', 'The header Acp-Client-Id is invalid', {
    expected: '1 to 128 letters, digits, _ and -, chosen at random for each connection',
    given: id.slice(0, 128),
  })
}

/** @throws `unsupported_media_type`: a page of another origin must not be able to send a message without a preflight */
function assertJson({ headers }: Request): void {
  const type = headers.get('content-type') ?? 'no content-type'
  if (/^application\/json\s*(?:;|$)/i.test(type)) return
  throw new AgentprotoError('unsupported_media_type', 'The body must be JSON', {
    expected: 'content-type: application/json',
    given: type,
  })
}

const unknownConnection = (): Response => new Response('Unknown Acp-Client-Id', { status: 404 })

const inUse = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'The connection is initialized already', {
    hint: 'Choose another Acp-Client-Id for another connection',
  })

const notGreeted = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'The first message must be initialize', { expected: 'initialize' })

import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AgentprotoError } from '@agentproto/contracts'
import { type AcpSocket, BOUNDS } from '@agentproto/contracts/wire'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { ServerOptions, WebSocket, WebSocketServer } from 'ws'

/** What an app adds to the WebSocket that it opens. */
export interface WebSocketOpening {
  /** Of the answer 101. */
  readonly headers: Readonly<Record<string, string>>
  readonly onOpen: (socket: Required<AcpSocket>) => void
}

/**
 * Opens the WebSocket of a request.
 * @returns what the app answers then: it is already sent
 * @throws `invalid_request` for a handshake that is not valid, `cancelled`, `shutting_down`
 */
export type OpenWebSocket = (opening: WebSocketOpening) => Promise<Response>

/** The request, its socket, and what the client sent behind its headers. */
interface Upgrade {
  readonly request: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
}

/** RFC 6455 §7.4.1: the server is going down. */
const GOING_AWAY = 1001

/**
 * The WebSockets of a server. A request for one is answered by the app like every other, which thus checks its caller; what
 * it refuses is an answer of HTTP.
 */
export class WebSockets {
  #server: Promise<WebSocketServer> | undefined
  #isClosing = false

  /** @param listen Answers a request whose app may open a WebSocket */
  watch(server: Server, listen: (open: OpenWebSocket) => RequestListener): void {
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // Node has removed its own listener.
      socket.on('error', () => socket.destroy())
      const answer = new ServerResponse(request)
      answer.shouldKeepAlive = false
      answer.assignSocket(socket)
      answer.once('finish', () => socket.destroySoon())
      listen((opening) => this.#open({ request, socket, head }, answer, opening))(request, answer)
    })
  }

  /** Ends each with a close frame. Their sockets are closed with those of the server. */
  close(): void {
    this.#isClosing = true
    void this.#server?.then(({ clients }) => {
      for (const each of clients) each.close(GOING_AWAY, 'The gateway is closing')
    })
  }

  async #open(upgrade: Upgrade, answer: ServerResponse, { headers, onOpen }: WebSocketOpening): Promise<Response> {
    const server = await (this.#server ??= createServer())
    if (this.#isClosing) throw new AgentprotoError('shutting_down', 'The gateway is shutting down')
    // RFC 6455 §4.4: who asks for another version learns this one.
    answer.setHeader('sec-websocket-version', VERSION)
    const { socket } = upgrade
    const webSocket = shakeHands(server, upgrade, headers)
    onOpen(Object.assign(webSocket, { together: (send: () => void) => writeOnce(socket, send) }))
    return new Response(null, RESPONSE_ALREADY_SENT)
  }
}

const VERSION = '13'

const OPTIONS: ServerOptions & { readonly closeTimeout: number } = {
  noServer: true,
  // Compressed, a small message could become any size, and each socket would keep the memory of its window.
  perMessageDeflate: false,
  maxPayload: BOUNDS.bodyBytes,
  /** A client has so long to answer a close frame. */
  closeTimeout: 5_000,
}

/** Loaded for the first WebSocket: most gateways never get one. */
async function createServer(): Promise<WebSocketServer> {
  const { WebSocketServer: Server } = await import('ws')
  return new Server(OPTIONS)
}

/** All of it happens at once, so the listeners are for this upgrade alone. */
function shakeHands(
  server: WebSocketServer,
  { request, socket, head }: Upgrade,
  headers: WebSocketOpening['headers'],
): WebSocket {
  let opened: WebSocket | undefined
  let refusal: Error | undefined
  const refuse = (error: Error): void => void (refusal = error)
  const add = (lines: string[]): void => void lines.push(...Object.entries(headers).map((each) => each.join(': ')))
  server.on('headers', add).on('wsClientError', refuse)
  try {
    server.handleUpgrade(request, socket, head, (webSocket) => (opened = webSocket))
  } finally {
    server.off('headers', add).off('wsClientError', refuse)
  }
  // Its close follows. Without a listener it would end the process.
  if (opened !== undefined) return opened.on('error', () => undefined)
  throw refusal === undefined ? clientIsGone() : notAHandshake(refusal)
}

function writeOnce(socket: Socket, send: () => void): void {
  socket.cork()
  try {
    send()
  } finally {
    socket.uncork()
  }
}

const clientIsGone = (): AgentprotoError =>
  new AgentprotoError('cancelled', 'The connection closed before the WebSocket was open')

const notAHandshake = (cause: Error): AgentprotoError =>
  new AgentprotoError('invalid_request', 'The WebSocket handshake is not valid', {
    expected: `the headers of RFC 6455, of version ${VERSION}`,
    given: cause.message,
    cause,
  })

import type { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { AgentprotoError, type Clock, isRecord, type Json } from '@agentproto/contracts'
import type { IncomingMessage } from 'node:http'
import type { WebSocket as Socket } from 'ws'
import { AGENT_BOUNDS } from '../agent-bounds.js'
import { connectFailure, statusFailure } from './connect-failure.js'
import type { EndpointAccess, RemoteEndpoint } from './remote-endpoint.js'

/** How long the other end may take to close the connection as well, in milliseconds. */
const CLOSE_MS = 1_000
/** Codes with which a connection ends because of what was sent on it (RFC 6455 §7.4.1). */
const VIOLATIONS: ReadonlySet<number> = new Set([1002, 1003, 1007, 1009])

/** How a connection ended. */
export interface SocketEnd {
  /** For people. */
  readonly why: string
  /** What was sent broke the protocol: another connection would not help. */
  readonly isViolation: boolean
}

export interface SocketEvents {
  /** A message, and whatever else was read with it follows at once. */
  onMessage(message: Json): void
  /** A binary frame, which ACP does not have, was dropped. */
  onBinary(bytes: number): void
  /** The other end answered a ping, or said anything. */
  onAlive(): void
  /** Exactly once, and the last. */
  onEnd(end: SocketEnd): void
}

export interface OpenOptions {
  readonly endpoint: RemoteEndpoint
  readonly access: EndpointAccess
  readonly events: SocketEvents
  readonly clock: Clock
  /** How long the connect may take, in milliseconds. */
  readonly limitMs: number
  readonly signal: AbortSignal
}

/** An open WebSocket on which ACP is spoken. */
export interface AgentSocket {
  send(message: object): void
  ping(): void
  /** While the host is busy, nothing is read. */
  pause(): void
  resume(): void
  readonly isPaused: boolean
  /** Settles when the connection has ended, and not before. */
  close(): Promise<void>
  /** Ends it without a word. @param why for people */
  terminate(why: string): void
}

/**
 * Opens the WebSocket of an endpoint. The transport of the SDK is experimental: this is the only file that knows it, and the
 * only one here that knows `ws`.
 * @throws {@link ConnectFailure}
 */
export async function openSocket(options: OpenOptions): Promise<AgentSocket> {
  const [{ WebSocket }, { createWebSocketStream: createStream }] = await Promise.all([
    import('ws'),
    import('@agentclientprotocol/sdk/experimental/ws-client'),
  ])
  options.signal.throwIfAborted()
  return new OpenedSocket(options, WebSocket, createStream).opened
}

type Stream = ReturnType<typeof createWebSocketStream>
type CreateStream = typeof createWebSocketStream

class OpenedSocket implements AgentSocket {
  readonly opened: Promise<AgentSocket>
  readonly #options: OpenOptions
  readonly #socket: Socket
  readonly #writer: WritableStreamDefaultWriter<unknown>
  readonly #closed: Promise<void>
  #refused: Error | undefined
  #why: string | undefined

  constructor(options: OpenOptions, WebSocket: typeof Socket, createStream: CreateStream) {
    this.#options = options
    const socket = this.#create(WebSocket)
    this.#socket = socket
    this.#closed = new Promise((resolve) => void socket.once('close', () => resolve()))
    // Before the SDK's listeners, which are gone after the first error; an error without a listener would end the host.
    socket.on('error', (error: Error) => (this.#refused ??= error))
    this.opened = this.#open()
    // The SDK creates its socket itself; it has been made above, so that it can be paused, pinged and ended.
    const given = function given(): Socket {
      return socket
    } as unknown as NonNullable<Parameters<CreateStream>[1]>['WebSocket'] & object
    const stream = createStream(options.endpoint.url, { WebSocket: given, cookies: 'omit' })
    this.#writer = stream.writable.getWriter()
    this.#writer.closed.catch(() => {})
    void this.#read(stream.readable)
  }

  get isPaused(): boolean {
    return this.#socket.isPaused
  }

  send(message: object): void {
    // What cannot be sent any more is known by the end of the connection.
    this.#writer.write(message).catch(() => {})
  }

  ping(): void {
    this.#socket.ping()
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  async close(): Promise<void> {
    const timer = this.#options.clock.after(CLOSE_MS, () => this.#socket.terminate())
    // A paused socket would never read the other end's answer.
    this.#socket.resume()
    this.#socket.close(1000)
    await this.#closed
    timer.cancel()
  }

  terminate(why: string): void {
    this.#why ??= why
    this.#socket.terminate()
  }

  #create(WebSocket: typeof Socket): Socket {
    const { endpoint, access } = this.#options
    return new WebSocket(endpoint.url, {
      headers: access.headers,
      followRedirects: false,
      maxPayload: AGENT_BOUNDS.messageBytes,
      perMessageDeflate: false,
      autoPong: false,
      // Also where NODE_TLS_REJECT_UNAUTHORIZED says otherwise.
      rejectUnauthorized: true,
      ...(access.lookup === undefined ? {} : { lookup: access.lookup }),
    })
  }

  async #open(): Promise<AgentSocket> {
    const { endpoint, clock, limitMs, signal } = this.#options
    const socket = this.#socket
    const giveUp = (error: Error): void => {
      this.#refused ??= error
      socket.terminate()
    }
    const timer = clock.after(limitMs, () => giveUp(tooSlow(limitMs)))
    const abort = (): void => giveUp(new AgentprotoError('cancelled', 'The connect was cancelled'))
    signal.addEventListener('abort', abort, { once: true })
    // With a listener, ws leaves the answer and the request to it.
    socket.once('unexpected-response', (request, response: IncomingMessage) => {
      response.resume()
      giveUp(statusFailure(endpoint, response))
      request.destroy()
    })
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('open', () => resolve(true))
      socket.once('close', () => resolve(false))
    })
    timer.cancel()
    signal.removeEventListener('abort', abort)
    if (!isOpen) throw connectFailure(endpoint, this.#refused)
    this.#listen()
    return this
  }

  #listen(): void {
    const { events } = this.#options
    const socket = this.#socket
    socket.on('pong', () => events.onAlive())
    socket.on('ping', (data) => {
      if (socket.bufferedAmount < AGENT_BOUNDS.beforePongBytes) socket.pong(data)
    })
    socket.on('message', (data, isBinary) => {
      events.onAlive()
      if (socket.bufferedAmount > AGENT_BOUNDS.unsentBytes) this.terminate('it does not read what is sent to it')
      if (isBinary) events.onBinary(sizeOf(data))
    })
    socket.once('close', (code, reason) => {
      // After the messages that were read before it.
      const end = endOf(code, reason.toString(), this.#refused)
      setImmediate(() => events.onEnd(this.#why === undefined ? end : { ...end, why: this.#why }))
    })
  }

  async #read(readable: Stream['readable']): Promise<void> {
    try {
      for await (const message of readable) if (isRecord(message)) this.#options.events.onMessage(message)
    } catch {
      // The end of the connection says why.
    }
  }
}

function endOf(code: number, reason: string, error: Error | undefined): SocketEnd {
  // What was received could not be read: the code is then only that of the broken connection.
  const unread = error !== undefined && 'code' in error && String(error.code).startsWith('WS_ERR_')
  const said = reason === '' ? (error?.message ?? '') : reason
  const meaning = MEANINGS[unread ? statusOf(error) : code] ?? `it was closed with ${code}`
  return { why: said === '' ? meaning : `${meaning}: ${said}`, isViolation: unread || VIOLATIONS.has(code) }
}

const statusOf = (error: Error): number => (/payload|length/i.test(error.message) ? 1009 : 1002)

const MEANINGS: { readonly [code: number]: string | undefined } = {
  1000: 'the other end closed it',
  1001: 'the other end went away',
  1002: 'the protocol of WebSockets was broken',
  1003: 'a frame of a kind that is not accepted was sent',
  1005: 'the other end closed it',
  1006: 'it broke',
  1007: 'text that is not UTF-8 was sent',
  1008: 'the other end refused it',
  1009: 'a message was too large',
  1011: 'the other end failed',
  1012: 'the other end restarts',
}

const tooSlow = (ms: number): Error =>
  new AgentprotoError('timeout', `The endpoint did not accept the connection within ${ms} ms`, {
    hint: 'Check its address, and whether a firewall drops what is sent there.',
  })

const sizeOf = (data: unknown): number =>
  Array.isArray(data) ? data.reduce<number>((sum, part) => sum + sizeOf(part), 0) : (data as ArrayBuffer).byteLength

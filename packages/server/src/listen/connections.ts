import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { AgentprotoError, FairShares, type Principal } from '@agentproto/contracts'

export interface ConnectionsOptions {
  readonly isTls: boolean
  /** Sockets that may be open at once. */
  readonly max: number
  readonly onProblem: (problem: string) => void
}

/** Also of an HTTP/2 response. That of an upgrade closes with its socket. */
type Answer = Pick<ServerResponse, 'closed'> & { once(event: 'close', listener: () => void): unknown }

/** A socket, and who uses it. */
interface Connection {
  /** The caller of its last request that was authenticated; undefined before the first. */
  by?: Principal
  /** Requests in flight. */
  requests: number
  /** What gives back the places of those that have one: while there is one, the connection is not closed to make room. */
  readonly places: Set<() => void>
}

/**
 * The sockets of a server: bounded in number, shared fairly among their callers, and closed in order. Requests in flight are
 * counted here, because Node's `closeIdleConnections` ignores sockets that have sent no request yet; browsers and fetch keep
 * such sockets ready.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  /** The longest idle or unknown first. With TLS, the raw socket until the handshake is done. */
  readonly #open = new Map<Socket, Connection>()
  readonly #handshakes = new Map<string, Socket>()
  /** Of requests in flight. */
  readonly #shares: FairShares
  #closing = false
  #isFull = false

  constructor(options: ConnectionsOptions) {
    this.#options = options
    this.#shares = new FairShares(options.max)
  }

  /** Counts the sockets of a server that does not listen yet. */
  watch(server: Server): void {
    if (this.#options.isTls) {
      server.on('connection', (socket: Socket) => this.#openedRaw(socket))
      server.on('secureConnection', (socket: Socket) => this.#secured(socket))
    } else server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1)
      response.once('close', () => this.#count(socket, -1))
    })
    // What takes a connection over has it until it closes: it is never idle.
    server.on('upgrade', ({ socket }) => this.#count(socket, 1))
  }

  /**
   * Gives a request a place until its answer has ended. It is called when the caller is known, for waits and streams too.
   * @throws `request_limit_reached` beyond the caller's share
   */
  admit({ socket }: { readonly socket: Socket }, response: Answer, by: Principal): void {
    const connection = this.#open.get(socket)
    if (connection === undefined || response.closed) return
    connection.by = by
    const place = this.#shares.take(by, () => socket.destroy())
    if (place === undefined) throw tooManyRequests(this.#shares.each)
    connection.places.add(place)
    response.once('close', () => {
      connection.places.delete(place)
      place()
    })
  }

  /** Closes idle sockets now, and the others when they become idle. */
  closeIdle(): void {
    this.#closing = true
    for (const [socket, { requests }] of this.#open) if (requests === 0) socket.destroy()
  }

  closeAll(): void {
    for (const socket of this.#open.keys()) socket.destroy()
  }

  #opened(socket: Socket): void {
    const connection: Connection = { requests: 0, places: new Set() }
    this.#open.set(socket, connection)
    socket.once('close', () => this.#closed(socket, connection))
    if (this.#open.size > this.#options.max) this.#makeRoom(socket)
  }

  #closed(socket: Socket, { places }: Connection): void {
    this.#open.delete(socket)
    // An answer that waits behind another one of its connection is never closed.
    for (const place of places) place()
    if (this.#open.size < this.#options.max / 2) this.#isFull = false
  }

  #openedRaw(socket: Socket): void {
    const ends = endsOf(socket)
    this.#handshakes.set(ends, socket)
    socket.once('close', () => {
      if (this.#handshakes.get(ends) === socket) this.#handshakes.delete(ends)
    })
    this.#opened(socket)
  }

  /** The TLS socket takes the place of its raw socket, which closes with it. */
  #secured(socket: Socket): void {
    const ends = endsOf(socket)
    const raw = this.#handshakes.get(ends)
    this.#handshakes.delete(ends)
    if (raw !== undefined) this.#open.delete(raw)
    this.#opened(socket)
  }

  /** Beyond the bound a socket is closed, so a client with many connections cannot lock others out. */
  #makeRoom(opened: Socket): void {
    if (!this.#isFull) this.#options.onProblem(`more than ${this.#options.max} connections: idle ones are closed`)
    this.#isFull = true
    const closed = this.#leastNeeded(opened)
    closed.destroy()
    this.#open.delete(closed)
  }

  /**
   * The oldest socket without a known caller, also one whose answers are not read; else the longest idle one of the caller
   * with the most sockets, the owner last. If all sockets have a request with a place, that is the new one.
   */
  #leastNeeded(opened: Socket): Socket {
    const counts = new Map<string, number>()
    let [found, most] = [opened, -1]
    for (const { by } of this.#open.values()) if (by) counts.set(by.name, (counts.get(by.name) ?? 0) + 1)
    for (const [socket, { by, places }] of this.#open) {
      if (places.size > 0 || socket === opened) continue
      if (by === undefined) return socket
      const count = by.type === 'owner' ? 0 : (counts.get(by.name) ?? 0)
      if (count > most) [found, most] = [socket, count]
    }
    return found
  }

  #count(socket: Socket, change: 1 | -1): void {
    const connection = this.#open.get(socket)
    if (connection === undefined) return
    connection.requests += change
    if (connection.requests > 0) return
    // It is the one that became idle last.
    this.#open.delete(socket)
    this.#open.set(socket, connection)
    if (this.#closing) socket.destroySoon()
  }
}

const tooManyRequests = (each: number): AgentprotoError =>
  new AgentprotoError('request_limit_reached', 'Too many requests of this caller are open', {
    expected: `at most ${each} at a time of one caller, and fewer while many callers are connected`,
    hint: 'Close streams and waits that are not needed, then try again',
  })

/** Identifies a connection; the same for a TLS socket and its raw socket. */
const endsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionsOptions {
  readonly isTls: boolean
  /** Sockets that may be open at once. */
  readonly max: number
  readonly onProblem: (problem: string) => void
}

/**
 * The sockets of a server: bounded in number, and closed in order. Requests in flight are counted here, because Node's
 * `closeIdleConnections` ignores sockets that have sent no request yet; browsers and fetch keep such sockets ready.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  /** Without a request in flight, the longest idle first. With TLS, the raw socket until the handshake is done. */
  readonly #idle = new Set<Socket>()
  /** Requests in flight. */
  readonly #busy = new Map<Socket, number>()
  readonly #handshakes = new Map<string, Socket>()
  #closing = false
  #isFull = false

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options
    if (options.isTls) {
      server.on('connection', (socket: Socket) => this.#openedRaw(socket))
      server.on('secureConnection', (socket: Socket) => this.#secured(socket))
    } else server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1)
      response.once('close', () => this.#count(socket, -1))
    })
  }

  /** Closes idle sockets now, and the others when they become idle. */
  closeIdle(): void {
    this.#closing = true
    for (const socket of this.#idle) socket.destroy()
  }

  closeAll(): void {
    for (const socket of [...this.#idle, ...this.#busy.keys()]) socket.destroy()
  }

  #opened(socket: Socket): void {
    this.#idle.add(socket)
    socket.once('close', () => this.#closed(socket))
    this.#makeRoom()
  }

  #closed(socket: Socket): void {
    this.#idle.delete(socket)
    this.#busy.delete(socket)
    if (this.#size < this.#options.max / 2) this.#isFull = false
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
    if (raw !== undefined) this.#idle.delete(raw)
    this.#opened(socket)
  }

  get #size(): number {
    return this.#idle.size + this.#busy.size
  }

  /**
   * Beyond the bound the longest idle socket is closed, so a client with many silent connections cannot lock others out. If
   * all are busy, that is the new one, which is idle itself.
   */
  #makeRoom(): void {
    if (this.#size <= this.#options.max) return
    const [oldest] = this.#idle
    if (!this.#isFull) this.#options.onProblem(`more than ${this.#options.max} connections: idle ones are closed`)
    this.#isFull = true
    oldest?.destroy()
    if (oldest !== undefined) this.#idle.delete(oldest)
  }

  #count(socket: Socket, change: 1 | -1): void {
    const before = this.#busy.get(socket) ?? (this.#idle.has(socket) ? 0 : undefined)
    if (before === undefined) return
    const requests = before + change
    if (requests > 0) {
      this.#idle.delete(socket)
      this.#busy.set(socket, requests)
      return
    }
    this.#busy.delete(socket)
    this.#idle.add(socket)
    if (this.#closing) socket.destroySoon()
  }
}

/** Identifies a connection; the same for a TLS socket and its raw socket. */
const endsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`

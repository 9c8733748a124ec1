import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionsOptions {
  readonly isTls: boolean
  /** Sockets that may be open at once. */
  readonly max: number
  readonly onProblem: (problem: string) => void
}

/**
 * The sockets of a server: bounded, and ended in order. Which have a request in flight is counted here: Node's own
 * `closeIdleConnections` leaves those alone that have not sent a request yet, as browsers and fetch keep them ready.
 */
export class Connections {
  readonly #options: ConnectionsOptions
  /** Without a request in flight, the longest idle first; beneath TLS until the handshake is done. */
  readonly #idle = new Set<Socket>()
  /** Requests in flight. */
  readonly #busy = new Map<Socket, number>()
  readonly #shaking = new Map<string, Socket>()
  #closing = false
  #isFull = false

  constructor(server: Server, options: ConnectionsOptions) {
    this.#options = options
    if (options.isTls) {
      server.on('connection', (socket: Socket) => this.#beneath(socket))
      server.on('secureConnection', (socket: Socket) => this.#secured(socket))
    } else server.on('connection', (socket: Socket) => this.#opened(socket))
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1)
      response.once('close', () => this.#count(socket, -1))
    })
  }

  /** Ends what is idle now, and the rest as it becomes idle. */
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

  #beneath(socket: Socket): void {
    const ends = endsOf(socket)
    this.#shaking.set(ends, socket)
    socket.once('close', () => {
      if (this.#shaking.get(ends) === socket) this.#shaking.delete(ends)
    })
    this.#opened(socket)
  }

  /** The socket above TLS takes the place of the one beneath, which ends with it. */
  #secured(socket: Socket): void {
    const ends = endsOf(socket)
    const beneath = this.#shaking.get(ends)
    this.#shaking.delete(ends)
    if (beneath !== undefined) this.#idle.delete(beneath)
    this.#opened(socket)
  }

  get #size(): number {
    return this.#idle.size + this.#busy.size
  }

  /**
   * Beyond the bound the longest idle goes: whoever holds many connections that say nothing keeps nobody out. Where all
   * are busy it is the new one, which is idle itself.
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

/** What tells a socket from the others; the same above TLS and beneath. */
const endsOf = ({ localAddress, localPort, remoteAddress, remotePort }: Socket): string =>
  `${localAddress} ${localPort} ${remoteAddress} ${remotePort}`

import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Which sockets of a server have a request in flight. Node's own `closeIdleConnections` leaves those alone
 * that have not sent a request yet, as browsers and fetch keep them ready.
 */
export class Connections {
  /** Beneath TLS: such a socket has no requests of its own, and ends with the one above it. */
  readonly #beneath = new Set<Socket>()
  readonly #inFlight = new Map<Socket, number>()
  #closing = false

  constructor(server: Server, isTls: boolean) {
    server.on('connection', (socket: Socket) => (isTls ? this.#openedBeneath(socket) : this.#opened(socket)))
    server.on('secureConnection', (socket: Socket) => this.#opened(socket))
    server.on('request', ({ socket }, response) => {
      this.#count(socket, 1)
      response.once('close', () => this.#count(socket, -1))
    })
  }

  /** Ends what is idle now, and the rest as it becomes idle. */
  closeIdle(): void {
    this.#closing = true
    for (const [socket, requests] of this.#inFlight) if (requests === 0) socket.destroy()
  }

  closeAll(): void {
    for (const socket of [...this.#inFlight.keys(), ...this.#beneath]) socket.destroy()
  }

  #openedBeneath(socket: Socket): void {
    this.#beneath.add(socket)
    socket.once('close', () => this.#beneath.delete(socket))
  }

  #opened(socket: Socket): void {
    this.#inFlight.set(socket, 0)
    socket.once('close', () => this.#inFlight.delete(socket))
  }

  #count(socket: Socket, change: 1 | -1): void {
    const requests = this.#inFlight.get(socket)
    if (requests === undefined) return
    this.#inFlight.set(socket, requests + change)
    if (this.#closing && requests + change === 0) socket.destroySoon()
  }
}

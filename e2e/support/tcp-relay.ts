import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** An address before a gateway, whose connections can be cut. */
export interface Relay {
  readonly url: string
  /** Open connections. */
  readonly open: () => number
  /** Resets all connections, or those whose last request has this method; new ones get through. */
  cut(method?: string): void
  /** Names the gateway behind it. */
  to(url: string): void
}

export async function startRelay(target: string): Promise<Relay> {
  let { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const methods = new WeakMap<Socket, string>()
  const server = createServer((socket) => {
    const onward = connect({ host: hostname, port: Number(port) })
    socket.on('data', (data) => {
      const [method] = /^[A-Z]+(?= \/)/.exec(data.toString('latin1')) ?? []
      if (method !== undefined) methods.set(socket, method)
    })
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => undefined)
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (method?: string): void => {
    for (const socket of sockets) if (method === undefined || methods.get(socket) === method) socket.resetAndDestroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.size / 2,
    cut,
    to: (url) => void ({ hostname, port } = new URL(url)),
  }
}

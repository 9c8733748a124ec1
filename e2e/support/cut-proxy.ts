import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** The network between a client and a server on loopback, which a test can cut. */
export interface CutProxy {
  readonly port: number
  /** Connections that were opened so far, also those that a cut network has dropped. */
  readonly opened: () => number
  /** Breaks every connection, and each new one, until the network is restored. */
  cut(): void
  restore(): void
}

export async function startCutProxy(target: string): Promise<CutProxy> {
  const { hostname, port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  let isCut = false
  let opened = 0
  const add = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
  }
  const dropAll = (): void => sockets.forEach((socket) => socket.resetAndDestroy())
  const server = createServer((client) => {
    opened += 1
    add(client)
    if (isCut) return void client.resetAndDestroy()
    const upstream = connect(Number(targetPort), hostname)
    add(upstream)
    client.pipe(upstream).pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    dropAll()
    server.close()
    await once(server, 'close')
  })
  return {
    port: (server.address() as AddressInfo).port,
    opened: () => opened,
    cut() {
      isCut = true
      dropAll()
    },
    restore() {
      isCut = false
    },
  }
}

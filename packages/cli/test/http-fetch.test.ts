import { createServer as createPlainServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer as createSocketServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newAuthority } from '../../../e2e/support/certificates.js'
import { httpFetch } from '../src/http-fetch.js'

const CONNECT_MS = 2_000

/** An answer takes longer than a connection may. */
const answerLate = async (_: unknown, response: { end(text: string): unknown }): Promise<void> => {
  await delay(CONNECT_MS + 100)
  response.end('{"late":true}')
}

async function portOf(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    sockets.forEach((socket) => socket.destroy())
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

test('only the connection has a time limit, not the answer, with TLS and without', async () => {
  const authority = newAuthority()
  const tls = createTlsServer(
    authority.issue({ name: 'gateway', hosts: ['127.0.0.1'] }),
    (...args) => void answerLate(...args),
  )
  const plain = createPlainServer((...args) => void answerLate(...args))
  const urls = [`https://127.0.0.1:${await portOf(tls)}`, `http://127.0.0.1:${await portOf(plain)}`]
  const answers = urls.map(async (url) => {
    const response = await httpFetch({ ca: authority.cert }, CONNECT_MS)(url, { method: 'GET', headers: {} })
    return response.json()
  })
  expect(await Promise.all(answers)).toEqual([{ late: true }, { late: true }])
})

test('a server that takes a connection and never shakes hands is given up, as one to which nothing was sent', async () => {
  const url = `https://127.0.0.1:${await portOf(createSocketServer(() => undefined))}`
  await expect(httpFetch({}, 300)(url, { method: 'GET', headers: {} })).rejects.toMatchObject({
    code: 'UND_ERR_CONNECT_TIMEOUT',
    message: 'no connection within 0.3 s',
  })
})

import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { httpFetch } from '../src/http-fetch.js'

/** Where a server answers anything with these bytes. */
async function serverOf(answer: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.end(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

test.each(['600 Odd', '999 Odd', '099 Odd', '000 Odd'])(
  '12.C4 a remote MCP server that answers %s fails its own request, and does not end the gateway',
  async (status) => {
    const url = await serverOf(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`)
    await expect(httpFetch(() => undefined)(url)).rejects.toThrow('what is no HTTP response')
  },
)

test('an answer has its status, its headers and its body', async () => {
  const url = await serverOf('HTTP/1.1 404 None\r\nX-A: 1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi')
  const response = await httpFetch(() => undefined)(url)
  expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([404, '1', 'hi'])
})

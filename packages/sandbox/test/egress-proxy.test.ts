import { mkdtemp, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { openEgressProxy } from '../src/egress-proxy.js'

const OK = 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi'

/** A listed host that answers anything with these bytes, and what an agent in the sandbox sends and gets. */
async function proxied(
  answer = OK,
): Promise<{ heard: string[]; send: (head: string, body?: string) => Promise<string> }> {
  const heard: string[] = []
  const host = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.on('data', (data) => {
      heard.push(data.toString('latin1'))
      socket.end(answer)
    })
  })
  host.listen(0, '127.0.0.1')
  await once(host, 'listening')
  const { port } = host.address() as AddressInfo
  const folder = await mkdtemp(join(tmpdir(), 'agentproto-egress-'))
  const path = join(folder, 'proxy')
  const proxy = await openEgressProxy(folder, { list: ['127.0.0.1'], ownNames: [] })
  onTestFinished(async () => {
    await proxy.close()
    host.close()
    await rm(folder, { recursive: true, force: true })
  })
  return {
    heard,
    send(head, body = '') {
      const agent = connect(path)
      const [line, ...headers] = head.split('\n')
      const lines = [
        `${line} HTTP/1.1`.replace('/', `http://127.0.0.1:${port}/`),
        'Host: a',
        'Connection: close',
        ...headers,
      ]
      agent.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
      return text(agent)
    },
  }
}

// What is thrown outside of a caller would end the gateway with all its sessions; here it fails the run.

test('12.A8 no request of a confined agent ends the gateway', async () => {
  const { send, heard } = await proxied()
  for (const head of [
    'GET /\nTrailer: x',
    'GET /\nTE: trailers',
    'GET /\nKeep-Alive: x\nUpgrade: y',
    'GET /\nExpect: x',
  ])
    expect(await send(head)).toMatch(/^HTTP\/1\.1 (200|417) /)
  expect(heard.join('')).not.toMatch(/^(trailer|te|keep-alive|upgrade):/im)
})

test('12.A8 no answer of a listed host ends the gateway', async () => {
  for (const [head, expected] of [
    ['000 Odd\r\nContent-Length: 0', /^HTTP\/1\.1 502 /],
    ['099 Odd\r\nContent-Length: 0', /^HTTP\/1\.1 502 /],
    ['200 OK\r\nTrailer: x\r\nContent-Length: 0', /^HTTP\/1\.1 200 /],
    ['200 OK\r\nX: \x01\r\nContent-Length: 0', /^HTTP\/1\.1 502 /],
  ] as const) {
    const { send } = await proxied(`HTTP/1.1 ${head}\r\nConnection: close\r\n\r\n`)
    expect(await send('GET /'), head).toMatch(expected)
  }
})

test('what is meant for one connection stays there, and a body keeps its length', async () => {
  const { send, heard } = await proxied()
  expect(
    await send('POST /\nConnection: x-mine, content-length\nX-Mine: 1\nX-Other: 2\nContent-Length: 3', 'abc'),
  ).toContain('\r\n\r\nhi')
  const sent = heard.join('')
  expect(sent).toMatch(/^POST \/ HTTP/)
  expect(sent).toMatch(/x-other: 2/i)
  expect(sent).not.toMatch(/x-mine/i)
  expect(sent).toMatch(/\r\n\r\nabc$/)
})

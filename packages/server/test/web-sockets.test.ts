import { EventEmitter, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { AgentprotoError, type Principal } from '@agentproto/contracts'
import { type AcpSocket, BOUNDS } from '@agentproto/contracts/wire'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { newAuthority } from '../../../e2e/support/certificates.ts'
import { type HttpServer, type RequestEnv, serveHttp, type ServeOptions } from '../src/listen/http-server.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

// How a connection becomes a WebSocket, and what becomes of one that does not.

type App = Parameters<typeof serveHttp>[0]

const OWNER: Principal = { type: 'owner', name: 'owner' }
const AS_OWNER = { authorization: 'Bearer owner' }

/** Checks the caller, then echoes what it gets. */
function echo(openings: EventEmitter = new EventEmitter()): App {
  return async (request, env) => {
    try {
      return await echoTo(request, env, openings)
    } catch (thrown) {
      if (!(thrown instanceof AgentprotoError)) throw thrown
      return Response.json(thrown.toProblem(), { status: thrown.row.status })
    }
  }
}

async function echoTo(
  request: Request,
  { admit, openWebSocket }: RequestEnv,
  openings: EventEmitter,
): Promise<Response> {
  if (request.headers.get('authorization') !== AS_OWNER.authorization) return new Response('no', { status: 401 })
  admit(OWNER)
  if (openWebSocket === undefined) return new Response(`${request.method} ${await request.text()}`)
  return openWebSocket({
    headers: { 'acp-connection-id': 'one' },
    onOpen(socket) {
      openings.emit('open', socket)
      socket.on('message', (data) => socket.send(String(data)))
    },
  })
}

async function serving(app: App = echo(), options: Partial<ServeOptions> = {}): Promise<HttpServer> {
  const isWebSocketPath = (path: string): boolean => path === '/socket'
  const server = await serveHttp(app, { port: 0, onProblem: () => undefined, isWebSocketPath, ...options })
  onTestFinished(() => server.close(0))
  return server
}

/** A client that its test leaves open or closes. */
function client({ url }: HttpServer, options: ConstructorParameters<typeof WebSocket>[2] = {}): WebSocket {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket`, { headers: AS_OWNER, ...options })
  onTestFinished(() => socket.terminate())
  return socket.on('error', () => undefined)
}

async function opened(server: HttpServer, options?: ConstructorParameters<typeof WebSocket>[2]): Promise<WebSocket> {
  const socket = client(server, options)
  await once(socket, 'open')
  return socket
}

async function echoOf(socket: WebSocket, text: string): Promise<string> {
  socket.send(text)
  const [data] = (await once(socket, 'message')) as [Buffer]
  return data.toString()
}

interface Raw {
  readonly socket: Socket
  readonly heard: () => string
  readonly ended: Promise<unknown>
}

/** Sends bytes as they are. */
async function raw({ url }: HttpServer, bytes: string): Promise<Raw> {
  let heard = ''
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.setEncoding('latin1').on('data', (text: string) => (heard += text))
  socket.on('error', () => undefined)
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.write(bytes, 'latin1')
  return { socket, heard: () => heard, ended }
}

const HANDSHAKE =
  'Host: localhost\r\nAuthorization: Bearer owner\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
const UPGRADE = `GET /socket HTTP/1.1\r\n${HANDSHAKE}\r\n`

/** A masked frame of a client, with a mask of zeros. */
const frame = (first: number, text: string): string => String.fromCharCode(first, 0x80 | text.length, 0, 0, 0, 0) + text

test('a WebSocket is opened by the app, with the headers that it adds', async () => {
  const server = await serving()
  const socket = client(server)
  const [[answer]] = (await Promise.all([once(socket, 'upgrade'), once(socket, 'open')])) as [
    [IncomingMessage],
    unknown,
  ]
  expect(answer.headers['acp-connection-id']).toBe('one')
  expect(await echoOf(socket, 'ü'.repeat(1_000_000))).toBe('ü'.repeat(1_000_000))
})

test('what the app refuses is an answer of HTTP, and the connection closes', async () => {
  const server = await serving()
  const { heard, ended } = await raw(server, UPGRADE.replace('Bearer owner', 'Bearer other'))
  await ended
  expect(heard()).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n[^]*connection: close\r\n[^]*\r\nno$/i)
})

test('an app that throws answers 500 on the raw socket', async () => {
  const problems: string[] = []
  const app: App = () => Promise.reject(new Error('no'))
  const { heard, ended } = await raw(await serving(app, { onProblem: (each) => problems.push(each) }), UPGRADE)
  await ended
  expect(heard()).toMatch(/^HTTP\/1\.1 500 /)
  expect(problems).toEqual(['A request failed outside the app: Error: no'])
})

test.each([
  ['a key that is no key', UPGRADE.replace('dGhlIHNhbXBsZSBub25jZQ==', 'abc')],
  ['no key', UPGRADE.replace(/Sec-WebSocket-Key[^]*?\r\n/, '')],
  ['another version', UPGRADE.replace('Version: 13', 'Version: 99')],
  ['a key that is sent twice', UPGRADE.replace('\r\n\r\n', '\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n')],
])('a handshake with %s is refused, with the version that is spoken', async (_, bytes) => {
  const { heard, ended } = await raw(await serving(), bytes)
  await ended
  expect(heard()).toMatch(/^HTTP\/1\.1 400 [^]*sec-websocket-version: 13\r\n[^]*"code":"invalid_request"/i)
})

test.each([
  ['another protocol', 'GET /socket HTTP/1.1', 'websocket', 'h2c', 'GET '],
  ['another route', 'GET /elsewhere HTTP/1.1', 'websocket', 'websocket', 'GET '],
  ['another method', 'POST /socket HTTP/1.1', 'websocket', 'websocket', 'POST body'],
  ['another protocol, with a body', 'POST /socket HTTP/1.1', 'websocket', 'h2c, websocket', 'POST body'],
  ['HTTP/1.0', 'GET /socket HTTP/1.0', 'websocket', 'websocket', 'GET '],
])('an upgrade is an ordinary request with %s', async (_, line, from, to, answer) => {
  const body = line.startsWith('POST') ? 'Content-Length: 4\r\n\r\nbody' : '\r\n'
  const bytes = `${line}\r\n${HANDSHAKE.replace(`Upgrade: ${from}`, `Upgrade: ${to}`)}${body}`
  const { heard } = await raw(await serving(), bytes)
  await expect.poll(heard).toMatch(new RegExp(`^HTTP/1\\.1 200 [^]*\\r\\n\\r\\n${answer}$`))
})

test('without WebSocket paths every upgrade is an ordinary request', async () => {
  const { heard } = await raw(await serving(echo(), { isWebSocketPath: () => false }), UPGRADE)
  await expect.poll(heard).toMatch(/^HTTP\/1\.1 200 [^]*\r\n\r\nGET $/)
})

test('CONNECT is not served', async () => {
  const { heard, ended } = await raw(await serving(), `CONNECT a:1 HTTP/1.1\r\n${HANDSHAKE}\r\n`)
  await ended
  expect(heard()).toBe('')
})

test('frames behind the headers are read once the socket is open, also those that come before the app has answered', async () => {
  const released = new EventEmitter()
  const app: App = async (request, env) => {
    released.emit('asked', env.incoming)
    await once(released, 'go')
    return echoTo(request, env, released)
  }
  const asked = once(released, 'asked')
  const { socket, heard } = await raw(await serving(app), UPGRADE + frame(0x81, 'first'))
  const [request] = (await asked) as [IncomingMessage]
  socket.write(frame(0x81, 'second'), 'latin1')
  await expect.poll(() => request.socket.bytesRead).toBe(socket.bytesWritten)
  released.emit('go')
  await expect.poll(heard).toMatch(/^HTTP\/1\.1 101 [^]*first[^]*second$/)
})

test.each([
  ['garbage', 'GET / HTTP/1.1\r\n\r\n', 1002],
  ['a frame without a mask', '\x81\x01a', 1002],
  ['a compressed frame', frame(0xc1, 'abc'), 1002],
  ['text that is not UTF-8', frame(0x81, '\xff\xfe'), 1007],
  ['a fragment that begins nothing', frame(0x80, 'abc'), 1002],
])('%s after the upgrade ends the WebSocket with a close frame', async (_, bytes, code) => {
  const { socket, heard, ended } = await raw(await serving(), UPGRADE + bytes)
  await expect.poll(heard).toContain(closeFrame(code))
  socket.end()
  await ended
})

const closeFrame = (code: number): string => String.fromCharCode(0x88, 2, code >> 8, code & 255)

test('a message is bounded like a body, in one frame or in many', async () => {
  const server = await serving()
  const whole = await opened(server)
  whole.send('x'.repeat(BOUNDS.bodyBytes + 1))
  expect((await once(whole, 'close'))[0]).toBe(1009)
  const many = await opened(server)
  for (let sent = 0; sent <= BOUNDS.bodyBytes; sent += 1_000_000) many.send('x'.repeat(1_000_000), { fin: false })
  expect((await once(many, 'close'))[0]).toBe(1009)
})

test('messages are not compressed, also if the client offers it', async () => {
  const socket = await opened(await serving(), { perMessageDeflate: true })
  expect(socket.extensions).toBe('')
})

test('an open WebSocket is no idle connection: it has its place until it closes', async () => {
  const server = await serving(echo(), { maxConnections: 2 })
  const [first, second] = [await opened(server), await opened(server)]
  const late = client(server)
  await new Promise((resolve) => late.once('close', resolve))
  expect([await echoOf(first, 'a'), await echoOf(second, 'b')]).toEqual(['a', 'b'])
  first.close()
  await once(first, 'close')
  // Its place is free when its socket is closed, which the client sees first.
  await expect.poll(() => opened(server).catch(() => undefined)).toBeDefined()
  expect(await echoOf(second, 'c')).toBe('c')
})

test('what is sent together arrives in one piece', async () => {
  const openings = new EventEmitter()
  const open = once(openings, 'open')
  const { socket } = await raw(await serving(echo(openings)), UPGRADE)
  const [served] = (await open) as [Required<AcpSocket>]
  const pieces: string[] = []
  socket.on('data', (text: string) => pieces.push(text))
  served.together(() => {
    for (let sent = 0; sent < 100; sent++) served.send('x')
  })
  const all = '\x81\x01x'.repeat(100)
  await expect.poll(() => pieces.join('').endsWith(all)).toBe(true)
  expect(pieces.at(-1)?.endsWith(all)).toBe(true)
})

test('over TLS it is the same', async () => {
  const folder = await temporaryFolder()
  const authority = newAuthority()
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const { cert, key } = authority.issue({ name: 'gateway', hosts: ['127.0.0.1'] })
  writeFileSync(files.cert, cert)
  writeFileSync(files.key, key, { mode: 0o600 })
  const server = await serving(echo(), { tls: files, maxConnections: 1 })
  const socket = await opened(server, { ca: authority.cert })
  const late = client(server, { ca: authority.cert })
  await new Promise((resolve) => late.once('close', resolve))
  expect(await echoOf(socket, 'a')).toBe('a')
  const closed = once(socket, 'close')
  await server.close(5_000)
  expect((await closed)[0]).toBe(1001)
})

test('a server that closes ends them with 1001, and cuts off those that do not answer', async () => {
  const server = await serving()
  const polite = await opened(server)
  const silent = await raw(server, UPGRADE)
  await expect.poll(silent.heard).toMatch(/^HTTP\/1\.1 101 /)
  const closed = once(polite, 'close')
  const isClosed = server.close(100)
  expect((await closed)[0]).toBe(1001)
  await isClosed
  await silent.ended
  expect(silent.heard()).toContain('The gateway is closing')
})

test('while the server closes no WebSocket is opened', async () => {
  const released = new EventEmitter()
  const app: App = async (...given) => {
    released.emit('asked')
    await once(released, 'go')
    return echo()(...given)
  }
  const server = await serving(app)
  const asked = once(released, 'asked')
  const { heard, ended } = await raw(server, UPGRADE)
  await asked
  const isClosed = server.close(5_000)
  released.emit('go')
  await Promise.all([isClosed, ended])
  expect(heard()).toMatch(/^HTTP\/1\.1 503 [^]*"code":"shutting_down"/)
})

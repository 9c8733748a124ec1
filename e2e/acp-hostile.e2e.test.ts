import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { needs } from '../tooling/needs.ts'
import { startDaemon, type Daemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The door of ACP on a real daemon, met by clients that mean harm: each is refused clearly, the daemon keeps its memory, and
// another client is served meanwhile.

const INITIALIZE = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: 1 } }

type Headers = Readonly<Record<string, string>>

const asOwner = ({ token }: Daemon): Headers => ({ authorization: `Bearer ${token}` })
const startedDaemon = (name: string): Promise<Daemon> => startDaemon({ home: temporaryFolder(name), keeper: false })

function dial({ url }: Daemon, headers: Headers, path = '/acp'): WebSocket {
  const socket = new WebSocket(url.replace('http', 'ws') + path, { headers })
  onTestFinished(() => socket.terminate())
  return socket.on('error', () => undefined)
}

async function opened(daemon: Daemon): Promise<WebSocket> {
  const socket = dial(daemon, asOwner(daemon))
  await once(socket, 'open')
  return socket
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly result?: { readonly sessionId: string }
  readonly error?: { readonly code: number }
}

interface Asked {
  readonly jsonrpc: string
  readonly id: number
  readonly method: string
  readonly params: object
}

/** Listens from before the request on: what came in one packet is emitted without a turn of the event loop between. */
function ask(socket: WebSocket, message: Asked): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onMessage = (data: Buffer): void => {
      const answer = JSON.parse(data.toString()) as Message
      if (answer.id !== message.id || answer.method !== undefined) return
      socket.off('message', onMessage).off('close', onClose)
      resolve(answer)
    }
    const onClose = (code: number): void => reject(new Error(`Closed with ${code} before the answer`))
    socket.on('message', onMessage).once('close', onClose)
    socket.send(JSON.stringify(message))
  })
}

async function initialized(daemon: Daemon): Promise<WebSocket> {
  const socket = await opened(daemon)
  await ask(socket, INITIALIZE)
  return socket
}

/** Status and problem of a handshake that is refused, or `open`. */
async function refusalOf(socket: WebSocket): Promise<string> {
  const refused = once(socket, 'unexpected-response') as Promise<[unknown, IncomingMessage]>
  const first = await Promise.race([refused, once(socket, 'open').then(() => undefined)])
  if (first === undefined) return 'open'
  let text = ''
  for await (const piece of first[1].setEncoding('utf8')) text += piece as string
  const { code } = JSON.parse(text) as { readonly code: string }
  return `${first[1].statusCode} ${code}`
}

const codeOf = async (socket: WebSocket): Promise<number> => ((await once(socket, 'close')) as [number])[0]

const memory = ({ pid }: Daemon): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
const filesOf = ({ pid }: Daemon): number => readdirSync(`/proc/${pid}/fd`).length

/** A turn by another client, which has to be served whatever the others do. */
async function servesOthers(daemon: Daemon): Promise<void> {
  const socket = await initialized(daemon)
  const params = { cwd: temporaryFolder('project'), mcpServers: [], _meta: { agentproto: { adapter: 'demo' } } }
  const { result } = await ask(socket, { jsonrpc: '2.0', id: 1, method: 'session/new', params })
  const prompt = { sessionId: result?.sessionId, prompt: [{ type: 'text', text: 'hello' }] }
  const ended = await ask(socket, { jsonrpc: '2.0', id: 2, method: 'session/prompt', params: prompt })
  expect(ended).toMatchObject({ result: { stopReason: 'end_turn' } })
  socket.terminate()
}

test('F80 F81 who may not enter gets an answer of HTTP, and no connection', async () => {
  const daemon = await startedDaemon('door')
  const owner = asOwner(daemon)
  const asked: readonly (readonly [string, Headers, string, string?])[] = [
    ['no token', {}, '401 unauthorized'],
    ['a wrong token', { authorization: 'Bearer wrong' }, '401 unauthorized'],
    ['a foreign Origin', { ...owner, origin: 'https://evil.example' }, '403 origin_not_allowed'],
    ['a sandboxed page', { ...owner, origin: 'null' }, '403 origin_not_allowed'],
    ['a foreign Host', { ...owner, host: 'evil.example' }, '403 host_not_allowed'],
    ['the token in the address', {}, '401 unauthorized', `/acp?token=${daemon.token}`],
    ['a query', owner, '400 invalid_request', '/acp?x=1'],
    ['an unknown agent', owner, '404 adapter_not_found', '/acp/nowhere'],
    ['the owner', owner, 'open'],
    ['the owner, of one agent', owner, 'open', '/acp/demo'],
  ]
  const got = []
  for (const [what, headers, , path] of asked) got.push([what, await refusalOf(dial(daemon, headers, path))])
  expect(got).toEqual(asked.map(([what, , expected]) => [what, expected]))
  await servesOthers(daemon)
  expect(daemon.printed().trim()).toBe(daemon.url)
})

test.each([
  ['a frame of 100 MB', (socket: WebSocket) => socket.send('x'.repeat(100_000_000)), [1009, 1006]],
  ['a binary frame', (socket: WebSocket) => socket.send(Buffer.from('{}'), { binary: true }), [1003]],
  ['fragments beyond the limit', (socket: WebSocket) => sendFragments(socket), [1009, 1006]],
  [
    'no initialize first',
    (socket: WebSocket) => socket.send('{"jsonrpc":"2.0","id":1,"method":"session/list"}'),
    [1002],
  ],
  ['no JSON first', (socket: WebSocket) => socket.send('hello'), [1002]],
])('%s ends its connection alone', { ...needs('linux') }, async (_, send, codes) => {
  const daemon = await startedDaemon('frames')
  await servesOthers(daemon)
  const before = memory(daemon)
  const other = await initialized(daemon)
  const socket = await opened(daemon)
  const code = codeOf(socket)
  send(socket)
  expect(codes).toContain(await code)
  expect(memory(daemon)).toBeLessThan(before + 60)
  expect(await ask(other, { jsonrpc: '2.0', id: 9, method: 'session/list', params: {} })).toHaveProperty('result')
  expect(daemon.printed().trim()).toBe(daemon.url)
})

function sendFragments(socket: WebSocket): void {
  for (let sent = 0; sent < 12 && socket.readyState === WebSocket.OPEN; sent++)
    socket.send('x'.repeat(1_000_000), { fin: false })
}

const HANDSHAKE =
  'Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
  'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'

async function connected({ url }: Daemon): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket.on('error', () => undefined)
}

test('10,000 half-open upgrades block no client, cost little memory and leak nothing', needs('linux'), async () => {
  const daemon = await startedDaemon('half-open')
  await servesOthers(daemon)
  const before = { memory: memory(daemon), files: filesOf(daemon) }
  const open = new Set<Socket>()
  for (let made = 0; made < 10_000; made += 250) {
    const sockets = await Promise.all(Array.from({ length: 250 }, () => connected(daemon)))
    for (const [index, socket] of sockets.entries()) {
      open.add(socket)
      socket.once('close', () => open.delete(socket)).resume()
      // Every other one has a token and is whole, and then says nothing.
      const isWhole = index % 2 === 0
      socket.write(`GET /acp HTTP/1.1\r\n${HANDSHAKE}`)
      if (isWhole) socket.write(`Authorization: Bearer ${daemon.token}\r\n\r\n`)
    }
    expect(await daemon.client.health()).toMatchObject({ ok: true })
  }
  await expect.poll(() => open.size, { timeout: 20_000 }).toBeLessThanOrEqual(1_024)
  expect(filesOf(daemon)).toBeLessThan(before.files + 1_100)
  expect(memory(daemon)).toBeLessThan(before.memory + 300)
  // Those that were accepted have no more than ten seconds to say who they are.
  await expect.poll(() => servesOthers(daemon).then(() => 'served'), { timeout: 30_000, interval: 500 }).toBe('served')
  for (const socket of open) socket.destroy()
  await expect.poll(() => filesOf(daemon)).toBeLessThan(before.files + 10)
})

test('somebody else’s connection is not found, nor one that there is not', async () => {
  const daemon = await startedDaemon('foreign')
  const { token } = await daemon.client.tokens.create({ name: 'other', scope: 'admin' })
  const send = (method: string, by: string, more: Headers = {}, body?: object): Promise<Response> =>
    fetch(`${daemon.url}/acp`, {
      method,
      headers: {
        authorization: `Bearer ${by}`,
        accept: method === 'GET' ? 'text/event-stream' : 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  const begun = await send('POST', daemon.token, {}, INITIALIZE)
  const id = begun.headers.get('acp-connection-id') ?? ''
  expect([begun.status, id]).toEqual([200, expect.stringMatching(/^[\w-]{20,}$/)])
  const list = { jsonrpc: '2.0', id: 1, method: 'session/list', params: {} }
  const answers = []
  for (const [by, given] of [
    [token, id],
    [daemon.token, 'unknown'],
  ] as const)
    for (const method of ['POST', 'GET', 'DELETE']) {
      const answered = await send(method, by, { 'acp-connection-id': given }, method === 'POST' ? list : undefined)
      answers.push([answered.status, await answered.text()])
    }
  expect(new Set(answers.map(String)).size).toBe(1)
  expect(answers[0]?.[0]).toBe(404)
  expect((await send('POST', daemon.token, { 'acp-connection-id': id }, list)).status).toBe(202)
})

test('a token that ends takes its WebSocket and its stream with it', async () => {
  const daemon = await startedDaemon('ended')
  const { token } = await daemon.client.tokens.create({ name: 'short', scope: 'operate' })
  const headers = { authorization: `Bearer ${token}` }
  const socket = dial(daemon, headers)
  await once(socket, 'open')
  await ask(socket, INITIALIZE)
  const json = { ...headers, 'content-type': 'application/json' }
  const begun = await fetch(`${daemon.url}/acp`, { method: 'POST', headers: json, body: JSON.stringify(INITIALIZE) })
  const id = begun.headers.get('acp-connection-id') ?? ''
  const asked = { ...headers, accept: 'text/event-stream', 'acp-connection-id': id }
  const stream = await fetch(`${daemon.url}/acp`, { headers: asked })
  expect(stream.status).toBe(200)
  const [closed, ended] = [codeOf(socket), stream.text()]
  await daemon.client.tokens.revoke('short')
  expect(await closed).toBe(1008)
  expect(await ended).toBe('')
  expect((await fetch(`${daemon.url}/acp`, { headers: asked })).status).toBe(401)
})

import { EventEmitter, once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type HttpServer, serveHttp, type ServeOptions } from '../src/listen/http-server.js'

// How long a client may hold a socket, and how many sockets there may be.

const QUICK = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50, maxHeaderSize: 16 * 1024 }

type Answer = Parameters<typeof serveHttp>[0]

async function serving(
  answer: Answer,
  options: Partial<ServeOptions> = {},
  limits?: typeof QUICK,
): Promise<HttpServer> {
  const server = await serveHttp(answer, { port: 0, onProblem: () => undefined, ...options }, limits)
  onTestFinished(() => server.close(0))
  return server
}

interface Client {
  readonly socket: Socket
  readonly heard: () => string
  readonly ended: Promise<unknown>
}

async function client({ url }: HttpServer): Promise<Client> {
  let heard = ''
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.setEncoding('latin1').on('data', (text: string) => (heard += text))
  const ended = new Promise((resolve) => socket.once('close', resolve))
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  return { socket, heard: () => heard, ended }
}

/** Sends one byte after another until the socket closes. */
function dribble({ socket }: Client, bytes: string): void {
  const timer = setInterval(() => socket.write(bytes), 20)
  socket.once('close', () => clearInterval(timer))
}

const GET = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

test('headers and bodies that arrive byte by byte are cut off, a long answer is not', async () => {
  const parts = new EventEmitter()
  const encoder = new TextEncoder()
  async function answer(request: Request): Promise<Response> {
    if (request.method === 'POST') return new Response(await request.text())
    const start = (controller: ReadableStreamDefaultController): void => {
      controller.enqueue(encoder.encode('first'))
      parts.once('last', () => {
        controller.enqueue(encoder.encode('last'))
        controller.close()
      })
    }
    return new Response(new ReadableStream({ start }))
  }
  const server = await serving(answer, {}, QUICK)
  // A machine that stands still for a moment may cut off this one too, at first.
  let stream = await client(server)
  for (; !stream.heard().includes('first'); stream = stream.socket.closed ? await client(server) : stream) {
    if (stream.socket.bytesWritten === 0) stream.socket.write(GET)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const [silent, head, body] = [await client(server), await client(server), await client(server)]
  head.socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nX: ')
  dribble(head, 'x')
  body.socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n')
  dribble(body, 'x')
  await Promise.all([silent.ended, head.ended, body.ended])
  expect(head.heard()).toMatch(/^HTTP\/1\.1 408/)
  // All of it took longer than any request may.
  parts.emit('last')
  await expect.poll(stream.heard).toMatch(/last/)
})

test('beyond the bound the longest idle connection is closed', async () => {
  const problems: string[] = []
  const onProblem = (problem: string): void => void problems.push(problem)
  const server = await serving(() => new Response('ok'), { maxConnections: 2, onProblem })
  const [first, second] = [await client(server), await client(server)]
  // Who has just been answered is not the longest idle.
  first.socket.write(GET)
  await expect.poll(first.heard).toMatch(/ok/)
  const third = await client(server)
  await second.ended
  for (const each of [first, third]) {
    each.socket.write(GET)
    await expect.poll(each.heard).toMatch(/ok$/)
  }
  expect(problems).toEqual(['more than 2 connections: idle ones are closed'])
})

type Caller = Parameters<Parameters<Answer>[1]['admit']>[0]
const OWNER: Caller = { type: 'owner', name: 'owner' }
const tokenNamed = (name: string): Caller => ({ type: 'token', name, scope: 'read' })

/** Answers late, when it is released; the path names the caller. */
function slowly(slow: EventEmitter): Answer {
  return async (request, { admit }) => {
    const caller = new URL(request.url).pathname.slice(1)
    if (caller !== '') admit(caller === 'owner' ? OWNER : tokenNamed(caller))
    slow.emit('asked')
    await once(slow, 'released')
    return new Response('late')
  }
}

test('if all connections wait for answers of known callers, the new one is closed and the others are not affected', async () => {
  const slow = new EventEmitter()
  const server = await serving(slowly(slow), { maxConnections: 2 })
  const busy: Client[] = []
  for (let made = 0; made < 2; made++) {
    const isAsked = once(slow, 'asked')
    const next = await client(server)
    next.socket.write(GET.replace('/', '/owner'))
    await isAsked
    busy.push(next)
  }
  await (
    await client(server)
  ).ended
  slow.emit('released')
  for (const { heard } of busy) await expect.poll(heard).toMatch(/late$/)
})

test('12.A6 without a known caller a connection is closed for a new one, also while its answers are not read', async () => {
  const server = await serving(() => new Response('x'.repeat(1_000_000)), { maxConnections: 4 })
  const unread: Client[] = []
  for (let made = 0; made < 4; made++) {
    const next = await client(server)
    next.socket.pause()
    next.socket.write(GET.repeat(40))
    unread.push(next)
  }
  // Their answers do not fit into the buffers of the system.
  await expect.poll(() => unread.every(({ socket }) => socket.readableLength > 0)).toBe(true)
  const late = await client(server)
  late.socket.write(GET)
  await expect.poll(() => late.heard().length).toBeGreaterThan(1_000_000)
})

test('12.A6 of idle connections those of the caller with the most are closed first, the owner’s last', async () => {
  const answer: Answer = (request, { admit }) => {
    const caller = new URL(request.url).pathname.slice(1)
    admit(caller === 'owner' ? OWNER : tokenNamed(caller))
    return new Response('ok')
  }
  const server = await serving(answer, { maxConnections: 4 })
  const idle: Client[] = []
  for (const caller of ['owner', 'one', 'many', 'many']) {
    const next = await client(server)
    next.socket.write(GET.replace('/', `/${caller}`))
    await expect.poll(next.heard).toMatch(/ok$/)
    idle.push(next)
  }
  const late = await client(server)
  await idle[2]?.ended
  late.socket.write(GET.replace('/', '/one'))
  await expect.poll(late.heard).toMatch(/ok$/)
  await client(server)
  await idle[1]?.ended
  expect([idle[0]?.socket.closed, idle[3]?.socket.closed]).toEqual([false, false])
})

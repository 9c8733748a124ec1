import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startDaemon, type Daemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

// Malformed and hostile requests, byte by byte, to a real daemon: each is answered or disconnected, and nothing leaks.

const HOST = 'Host: localhost\r\n'
const JSON_TYPE = 'Content-Type: application/json\r\n'

interface Attempt {
  readonly what: string
  /** Written piece by piece; `$` stands for the owner's Authorization header. */
  readonly say: string | readonly (string | Buffer)[]
  /** The first line of the response; `gone` when the socket is closed without one. */
  readonly answer: RegExp | 'gone'
  /** Further content of the response. */
  readonly holds?: RegExp
  /** Whether the gateway must close the connection. */
  readonly ends?: true
}

const post = (body: string | Buffer, more = '', path = '/sessions/agent'): readonly (string | Buffer)[] => [
  `POST ${path} HTTP/1.1\r\n${HOST}$${JSON_TYPE}Content-Length: ${Buffer.byteLength(body)}\r\n${more}\r\n`,
  body,
]
const get = (path: string, more = ''): string => `GET ${path} HTTP/1.1\r\n${HOST}${more}\r\n`
const method = (name: string): string => `${name} /sessions HTTP/1.1\r\n${HOST}$\r\n`
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
const MCP = 'Accept: application/json, text/event-stream\r\n'
const toolCall = (args: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_agent_sessions","arguments":${args}}}`
const chunk = `10000\r\n${'x'.repeat(0x1_0000)}\r\n`

const ATTEMPTS: readonly Attempt[] = [
  { what: 'a header of 20 kB', say: get('/health', `X: ${'x'.repeat(20_000)}\r\n`), answer: /431/, ends: true },
  { what: 'headers of 40 kB', say: get('/health', 'X-Name: x\r\n'.repeat(4_000)), answer: /431/, ends: true },
  { what: 'a URL of 20 kB', say: get(`/${'x'.repeat(20_000)}`), answer: /431/, ends: true },
  {
    what: 'a query of 12 kB',
    say: get(`/sessions?q=${'x'.repeat(12_000)}`, '$'),
    answer: /400/,
    holds: /invalid_request/,
  },
  {
    what: 'a body larger than the bound, by its length',
    say: [`POST /sessions/agent HTTP/1.1\r\n${HOST}$${JSON_TYPE}Content-Length: 20000000\r\n\r\n{`],
    answer: /413/,
    holds: /payload_too_large/,
    ends: true,
  },
  {
    what: 'a body larger than the bound, in chunks',
    say: [
      `POST /sessions/agent HTTP/1.1\r\n${HOST}$${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array.from({ length: 70 }, () => chunk),
    ],
    answer: /413/,
    ends: true,
  },
  {
    what: 'a large body without a token',
    say: [`POST /sessions/agent HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: 20000000\r\n\r\n{`],
    answer: /401/,
    ends: true,
  },
  {
    what: 'a compressed body',
    say: post('{}', 'Content-Encoding: gzip\r\n'),
    answer: /415/,
    holds: /content-encoding/,
  },
  {
    what: 'a compressed call of a tool',
    say: post(toolCall('{}'), `${MCP}Content-Encoding: gzip\r\n`, '/mcp'),
    answer: /415/,
  },
  { what: 'JSON 100,000 levels deep', say: post(deep(100_000)), answer: /400/, holds: /at most 128 levels/ },
  { what: 'JSON 129 levels deep', say: post(`{"adapter":${deep(128)}}`), answer: /400/, holds: /at most 128 levels/ },
  { what: 'JSON 128 levels deep', say: post(`{"adapter":${deep(127)}}`), answer: /400/, holds: /a string/ },
  {
    what: 'a tool call 100,000 levels deep',
    say: post(toolCall(deep(100_000)), MCP, '/mcp'),
    answer: /400/,
    holds: /128 levels/,
  },
  {
    what: 'a body that is not UTF-8',
    say: post(Buffer.from('{"adapter":"demo\xff\xfe"}', 'latin1')),
    answer: /400/,
    holds: /invalid_json.*UTF-8/,
  },
  {
    what: 'one in chunks that is not UTF-8',
    say: [
      `POST /sessions/agent HTTP/1.1\r\n${HOST}$${JSON_TYPE}Transfer-Encoding: chunked\r\n\r\n`,
      Buffer.from('3\r\n"\xe2"\r\n0\r\n\r\n', 'latin1'),
    ],
    answer: /400/,
    holds: /invalid_json/,
  },
  { what: 'NUL in a path', say: get('/sessions/%00', '$'), answer: /404/, holds: /session_not_found/ },
  { what: 'a bare NUL in a path', say: get('/sessions/\0', '$'), answer: /400/, ends: true },
  { what: 'NUL in a folder', say: post('{"adapter":"demo","cwd":"/tmp/\\u0000"}'), answer: /4\d\d/, holds: /cwd/ },
  { what: 'a broken escape in a path', say: get('/sessions/%E0%A4%A', '$'), answer: /404/ },
  {
    what: 'Content-Length and Transfer-Encoding',
    say: `POST /sessions/agent HTTP/1.1\r\n${HOST}$${JSON_TYPE}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    answer: /400/,
    ends: true,
  },
  {
    what: 'two lengths',
    say: `POST /sessions/agent HTTP/1.1\r\n${HOST}$Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    answer: /400/,
    ends: true,
  },
  {
    what: 'a transfer coding after chunked',
    say: `POST /sessions/agent HTTP/1.1\r\n${HOST}$Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    answer: /400/,
    ends: true,
  },
  { what: 'two Hosts', say: get('/health', 'Host: evil.example\r\n'), answer: /400/, ends: true },
  { what: 'no Host', say: 'GET /health HTTP/1.1\r\n\r\n', answer: /400/ },
  { what: 'two tokens', say: get('/sessions', `Authorization: Bearer x\r\n$`), answer: /401/ },
  { what: 'the token in the query', say: get('/sessions?token=!&access_token=!'), answer: /401/ },
  { what: 'HTTP/1.0', say: `GET /health HTTP/1.0\r\n${HOST}\r\n`, answer: /200/, ends: true },
  { what: 'HTTP/2 without asking', say: 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', answer: /400/, ends: true },
  { what: 'no HTTP', say: 'hello\r\n\r\n', answer: /400/, ends: true },
  { what: 'TLS', say: [Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 0])], answer: /400/, ends: true },
  {
    what: 'three requests at once',
    say: get('/health') + get('/sessions') + get('/nowhere', '$'),
    answer: /200/,
    holds: /"ok":true[^]*HTTP\/1\.1 401[^]*HTTP\/1\.1 404/,
  },
  {
    what: 'Expect: 100-continue',
    say: `POST /sessions/agent HTTP/1.1\r\n${HOST}$${JSON_TYPE}Content-Length: 2\r\nExpect: 100-continue\r\n\r\n`,
    answer: /100 Continue/,
  },
  {
    what: 'another expectation',
    say: `POST /sessions/agent HTTP/1.1\r\n${HOST}$Content-Length: 0\r\nExpect: magic\r\n\r\n`,
    answer: /417/,
  },
  { what: 'HEAD', say: method('HEAD'), answer: /200/, holds: /\r\n\r\n$/ },
  { what: 'OPTIONS', say: method('OPTIONS'), answer: /204/, holds: /allow: GET, HEAD, OPTIONS/ },
  { what: 'OPTIONS of nothing', say: `OPTIONS * HTTP/1.1\r\n${HOST}$\r\n`, answer: /400/ },
  { what: 'PUT', say: method('PUT'), answer: /405/, holds: /allow: GET, HEAD, OPTIONS/ },
  { what: 'PATCH', say: method('PATCH'), answer: /405/, holds: /allow: GET, HEAD, OPTIONS/ },
  { what: 'TRACE', say: method('TRACE'), answer: /405/, holds: /allow: GET, HEAD, OPTIONS/ },
  { what: 'a method that there is not', say: method('BREW'), answer: /400/, ends: true },
  { what: 'CONNECT', say: `CONNECT evil.example:443 HTTP/1.1\r\n${HOST}$\r\n`, answer: 'gone', ends: true },
  // RFC 9110 §7.8: a server that does not upgrade responds as if the header were absent.
  { what: 'an upgrade', say: get('/health', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'), answer: /200/ },
]

test('each is answered or disconnected, and the daemon is unaffected', async () => {
  const daemon = await startDaemon({ home: temporaryFolder('hostile') })
  for (const attempt of ATTEMPTS)
    expect(await outcomeOf(daemon, attempt)).toEqual({ what: attempt.what, answer: 'expected' })
  expect(await daemon.client.health()).toMatchObject({ ok: true })
  expect(await daemon.client.sessions.list()).toMatchObject({ sessions: [] })
  expect(daemon.printed().trim()).toBe(daemon.url)
})

interface Outcome {
  readonly what: string
  readonly answer: string
}

async function outcomeOf(daemon: Daemon, { what, say, answer, holds = /^/, ends }: Attempt): Promise<Outcome> {
  const socket = await connected(daemon)
  let heard = ''
  let isOver = false
  const auth = `Authorization: Bearer ${daemon.token}\r\n`
  socket.setEncoding('latin1').on('data', (text: string) => (heard += text))
  socket.once('close', () => (isOver = true))
  for (const piece of [say].flat())
    socket.write(typeof piece === 'string' ? piece.replace('$', auth).replaceAll('!', daemon.token) : piece)
  const isExpected = (): boolean => {
    if (ends === true && !isOver) return false
    return answer === 'gone' ? isOver && heard === '' : answer.test(heard.split('\r\n')[0] ?? '') && holds.test(heard)
  }
  await vi.waitUntil(isExpected, { timeout: 15_000, interval: 20 }).catch(() => undefined)
  socket.destroy()
  return { what, answer: isExpected() ? 'expected' : `${heard.slice(0, 600)}${isOver ? ' (over)' : ''}` }
}

/** A socket that the gateway may close at any time. */
async function connected({ url }: Daemon): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  return socket.on('error', () => undefined)
}

const memory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024

test('10,000 idle connections block no client, cost little memory and leak nothing', needs('linux'), async () => {
  const daemon = await startDaemon({ home: temporaryFolder('idle') })
  const before = { memory: memory(daemon.pid), files: filesOf(daemon.pid) }
  const open = new Set<Socket>()
  for (let made = 0; made < 10_000; made += 250) {
    const sockets = await Promise.all(Array.from({ length: 250 }, () => connected(daemon)))
    for (const socket of sockets) {
      open.add(socket)
      socket.once('close', () => open.delete(socket)).resume()
      // Every other one begins a request and never completes it.
      if (open.size % 2 === 0) socket.write('GET /health HTTP/1.1\r\nHost: loc')
    }
    expect(await daemon.client.health()).toMatchObject({ ok: true })
  }
  await expect.poll(() => open.size).toBeLessThanOrEqual(1_024)
  expect(filesOf(daemon.pid)).toBeLessThan(before.files + 1_100)
  expect(memory(daemon.pid)).toBeLessThan(before.memory + 100)
  expect(daemon.printed()).toContain('more than 1024 connections')
  for (const socket of open) socket.destroy()
  await expect.poll(() => filesOf(daemon.pid)).toBeLessThan(before.files + 10)
  expect(await daemon.client.sessions.list()).toMatchObject({ sessions: [] })
})

const filesOf = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

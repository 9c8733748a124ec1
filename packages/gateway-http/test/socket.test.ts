import { systemClock } from '@agentproto/contracts'
import { BOUNDS, type SessionArchive } from '@agentproto/contracts/wire'
import { createAdaptorServer } from '@hono/node-server'
import type { ServerType } from '@hono/node-server'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fakeAdapters, fakeGateway, OWNER, TOKEN } from './fake-gateway.ts'
import type { FakeGateway } from './fake-gateway.ts'
import { parseMessages } from './read-messages.ts'

// What only a real socket shows: back-pressure, clients that go away, bodies without a length.

interface Listening extends FakeGateway {
  readonly server: ServerType
  readonly send: (method: string, path: string, headers?: Record<string, string | number>) => ClientRequest
}

async function listening(more: Parameters<typeof fakeGateway>[0] = {}): Promise<Listening> {
  const gateway = fakeGateway(more)
  const server = createAdaptorServer({ fetch: gateway.app.fetch, overrideGlobalObjects: false })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const send: Listening['send'] = (method, path, headers = {}) => {
    const sent = httpRequest({ host: '127.0.0.1', port, method, path, agent: false })
    sent.setHeader('authorization', `Bearer ${TOKEN}`)
    for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value)
    onTestFinished(() => void sent.destroy())
    return sent
  }
  await gateway.call('POST', '/sessions/agent', { adapter: 'demo' })
  return { ...gateway, send, server }
}

async function answerTo(sent: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string
  return text
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve))
}

const SSE = { accept: 'text/event-stream' }
const JSON_BODY = { 'content-type': 'application/json' }

test('a prompt over a socket, with wait, on one connection after another', async () => {
  const { send } = await listening()
  for (const turn of [1, 2]) {
    const sent = send('POST', '/sessions/s1/prompt', JSON_BODY)
    sent.end('{"prompt":"hello","wait":true}')
    const response = await answerTo(sent)
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/json'])
    expect(JSON.parse(await textOf(response))).toMatchObject({ ok: true, turn, result: { number: turn } })
  }
})

test('an answer has its bytes, its length and its tag, however long it is', async () => {
  const demo = await fakeAdapters.get('demo')
  for (const length of [1, 65_000, 66_000, 300_000]) {
    const list = { adapters: [{ ...demo, description: 'aé€😀\ud800"\n'.repeat(length / 8) + 'x'.repeat(length) }] }
    const { send } = await listening({ adapters: { ...fakeAdapters, list: async () => list.adapters } })
    const ask = async (method: string, headers = {}): Promise<IncomingMessage> => {
      const sent = send(method, '/adapters', headers)
      sent.end()
      return answerTo(sent)
    }
    const answer = await ask('GET')
    const text = JSON.stringify(list)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'content-length': String(Buffer.byteLength(text)),
      etag: `"${createHash('sha1').update(text).digest('base64url')}"`,
    })
    expect((await textOf(answer)) === text).toBe(true)
    const again = await ask('GET', { 'if-none-match': answer.headers.etag ?? '' })
    expect([again.statusCode, await textOf(again)]).toEqual([304, ''])
    const head = await ask('HEAD')
    expect([head.statusCode, head.headers.etag, await textOf(head)]).toEqual([200, answer.headers.etag, ''])
  }
})

test('50,000 events arrive each once and in order', async () => {
  const { send, sessions } = await listening()
  for (let i = 0; i < 50_000; i++) sessions.log('s1').append({ type: 'text-delta', text: `chunk ${i}` })
  await sessions.kill('s1', OWNER)
  const sent = send('GET', '/sessions/s1/events', SSE)
  sent.end()
  const ids = parseMessages(await textOf(await answerTo(sent))).map(({ id }) => Number(id))
  expect(ids).toEqual(Array.from({ length: 50_003 }, (_, i) => i + 1))
})

test('a stalled client stalls the pulling, and gets everything when it goes on', async () => {
  const { send, sessions } = await listening()
  let pulled = 0
  const follow = sessions.follow.bind(sessions)
  sessions.follow = async (id, after) => {
    const reader = await follow(id, after)
    const next: typeof reader.next = async (signal) => {
      const batch = await reader.next(signal)
      pulled += batch?.records.length ?? 0
      return batch
    }
    return { next, close: () => reader.close() }
  }
  const text = 'x'.repeat(1_000)
  const count = 40_000
  for (let i = 0; i < count; i++) sessions.log('s1').append({ type: 'text-delta', text })
  const sent = send('GET', '/sessions/s1/events', SSE)
  sent.end()
  const response = await answerTo(sent)
  response.pause()
  let before = -1
  // Stalled once a while passes in which nothing was pulled; buffers of the sockets are what went before.
  while (pulled !== before) {
    before = pulled
    await new Promise((resolve) => systemClock.after(50, () => resolve(undefined)))
  }
  expect(pulled).toBeLessThan(count)
  await sessions.kill('s1', OWNER)
  expect(parseMessages(await textOf(response))).toHaveLength(count + 3)
})

test.each(['while it waits', 'while it is stalled'])('a client that disconnects %s closes its reader', async (when) => {
  const { send, sessions, clock } = await listening()
  const text = 'x'.repeat(100_000)
  if (when === 'while it is stalled')
    for (let i = 0; i < 500; i++) sessions.log('s1').append({ type: 'text-delta', text })
  const sent = send('GET', '/sessions/s1/events', SSE)
  sent.end()
  const response = await answerTo(sent)
  await once(response, 'readable')
  await until(() => sessions.log('s1').open === 1)
  sent.destroy()
  await until(() => sessions.log('s1').open === 0)
  expect(clock.pending).toBe(0)
})

test('F1 a client that disconnects while it waits for its turn leaves the turn running', async () => {
  const { send, sessions } = await listening()
  const sent = send('POST', '/sessions/s1/prompt', JSON_BODY)
  sent.on('error', () => {})
  sent.end('{"prompt":"hang","wait":true}')
  await until(() => sessions.calls.some(([name]) => name === 'waitTurn'))
  sent.destroy()
  await new Promise((resolve) => setImmediate(resolve))
  expect((await sessions.turns('s1')).at(-1)).toMatchObject({ state: 'running' })
})

test('F67 the head of a stream and its first bytes come at once, and comments in silence', async () => {
  const { send, clock } = await listening()
  const sent = send('GET', '/sessions/s1/events?after=1', SSE)
  sent.end()
  const response = await answerTo(sent)
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    'transfer-encoding': 'chunked',
  })
  const [hello] = (await once(response, 'data')) as [Buffer]
  expect(hello.toString()).toBe('retry: 1000\n\n')
  for (let i = 0; i < 3; i++) {
    const comment = once(response, 'data') as Promise<[Buffer]>
    clock.advance(25_000)
    expect((await comment)[0].toString()).toBe(': keep-alive\n\n')
  }
})

test('a body without a length is counted while it is read', async () => {
  const { send, sessions } = await listening()
  const small = send('POST', '/sessions/s1/prompt', JSON_BODY)
  small.write('{"prompt":')
  small.end('"hello"}')
  expect((await answerTo(small)).statusCode).toBe(202)
  const large = send('POST', '/sessions/s1/prompt', JSON_BODY)
  large.on('error', () => {})
  large.write('{"prompt":"')
  for (let sent = 0; sent < 10 * 1024 * 1024; sent += 65_536) large.write('x'.repeat(65_536))
  const response = await answerTo(large)
  expect(response.statusCode).toBe(413)
  expect(JSON.parse(await textOf(response))).toMatchObject({
    code: 'payload_too_large',
    expected: `at most ${BOUNDS.bodyBytes} bytes`,
  })
  expect(sessions.calls.filter(([name]) => name === 'prompt')).toHaveLength(1)
})

test('a body of 10 MiB is refused by its length, before it came', async () => {
  const { send } = await listening()
  const sent = send('POST', '/sessions/s1/prompt', { ...JSON_BODY, 'content-length': 10 * 1024 * 1024 })
  sent.on('error', () => {})
  sent.write('{')
  expect((await answerTo(sent)).statusCode).toBe(413)
})

test('a client that disconnects within its body is no failure of ours', async () => {
  const failures: unknown[] = []
  const { send, sessions, server } = await listening({ onError: (error) => failures.push(error) })
  const sent = send('POST', '/sessions/s1/prompt', { ...JSON_BODY, 'content-length': 100 })
  sent.on('error', () => {})
  const received = once(server, 'request') as Promise<[IncomingMessage, ServerResponse]>
  sent.write('{"prompt":')
  const [, answer] = await received
  const closed = once(answer, 'close')
  sent.destroy()
  await closed
  await new Promise((resolve) => setImmediate(resolve))
  expect(failures).toEqual([])
  expect(sessions.calls.filter(([name]) => name === 'prompt')).toEqual([])
})

test('F80 a foreign Host on the socket is refused', async () => {
  const { send } = await listening()
  const sent = send('GET', '/sessions', { host: 'evil.example' })
  sent.end()
  const response = await answerTo(sent)
  expect(response.statusCode).toBe(403)
  expect(JSON.parse(await textOf(response))).toMatchObject({ code: 'host_not_allowed' })
})

test('a POST without a body and without a content-type kills', async () => {
  const { send } = await listening()
  const sent = send('POST', '/sessions/s1/kill')
  sent.end()
  expect(JSON.parse(await textOf(await answerTo(sent)))).toEqual({ ok: true, id: 's1' })
})

/** A gateway whose only export fails after some pieces. */
async function failingExport(pieces: number) {
  const stderr = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  onTestFinished(() => stderr.mockRestore())
  const failure = new Error('/home/ada/secret')
  const reported: unknown[] = []
  async function* text(): AsyncGenerator<string> {
    for (let piece = 0; piece < pieces; piece++) yield `line ${piece}\n`
    throw failure
  }
  const { send } = await listening({
    archive: { export: async () => text() } as Partial<SessionArchive> as SessionArchive,
    onError: (error) => reported.push(error),
  })
  return { sent: send('GET', '/sessions/s1/export').end(), reported, failure, stderr }
}

test.each([0, 1])(
  'an export that fails after %i pieces is answered as an error without its message',
  async (pieces) => {
    const { sent, reported, failure, stderr } = await failingExport(pieces)
    const response = await answerTo(sent)
    expect(response.statusCode).toBe(500)
    const text = await textOf(response)
    expect(JSON.parse(text)).toMatchObject({ code: 'internal', status: 500 })
    expect(text).not.toContain('secret')
    expect(reported).toEqual([failure])
    expect(stderr).not.toHaveBeenCalled()
  },
)

test.each([2, 9])('an export that fails after %i pieces is cut off and reported', async (pieces) => {
  const { sent, reported, failure, stderr } = await failingExport(pieces)
  await expect(answerTo(sent).then(textOf)).rejects.toMatchObject({ code: 'ECONNRESET' })
  expect(reported).toEqual([failure])
  expect(stderr).not.toHaveBeenCalled()
})

import { once } from 'node:events'
import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { serveHttp } from '../src/listen/http-server.js'

// What the server keeps between Node and the app, over real sockets: nothing else shows where bytes go.

type Answering = (request: Request) => Response | Promise<Response>

interface Listening {
  readonly port: number
  readonly problems: unknown[]
  readonly send: (method: string, path: string, headers?: Record<string, string | number>) => ClientRequest
}

async function listening(answer: Answering): Promise<Listening> {
  const problems: unknown[] = []
  const server = await serveHttp(answer, { port: 0, onProblem: (problem) => problems.push(problem) })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(async () => {
    agent.destroy()
    await server.close(0)
  })
  const port = Number(new URL(server.url).port)
  const send: Listening['send'] = (method, path, headers = {}) =>
    httpRequest({ host: '127.0.0.1', port, method, path, headers, agent }).on('error', () => undefined)
  return { port, problems, send }
}

async function answerTo(sent: ClientRequest): Promise<IncomingMessage & { readonly text: string }> {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk as string
  return Object.assign(response, { text })
}

/** The bytes that a server sends to bytes as they are. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  onTestFinished(() => void socket.destroy())
  socket.end(bytes)
  let text = ''
  for await (const chunk of socket) text += chunk as string
  return text
}

test('a whole answer is sent with its length', async () => {
  const { send } = await listening(() => new Response('{"ü":1}', { headers: { 'content-type': 'application/json' } }))
  const response = await answerTo(send('GET', '/').end())
  expect(response.text).toBe('{"ü":1}')
  expect(response.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '8' })
})

test('no global of the process is replaced', async () => {
  const before = [globalThis.Request, globalThis.Response, globalThis.Headers, globalThis.fetch]
  await listening(() => new Response('ok'))
  expect([globalThis.Request, globalThis.Response, globalThis.Headers, globalThis.fetch]).toEqual(before)
})

test('an answer without a body, and one to HEAD, are sent without a body', async () => {
  const { send } = await listening((request) =>
    request.method === 'HEAD'
      ? new Response(null, { headers: { 'content-type': 'text/plain' } })
      : new Response(null, { status: 204 }),
  )
  expect(await answerTo(send('GET', '/').end())).toMatchObject({ statusCode: 204, text: '' })
  const head = await answerTo(send('HEAD', '/').end())
  expect(head).toMatchObject({ statusCode: 200, text: '' })
  expect(head.headers['content-type']).toBe('text/plain')
})

test('a request has the method, URL, headers and body that were sent, with each way to read the body', async () => {
  const { send } = await listening(async (request) => {
    const copy = request.url.endsWith('?clone') ? request.clone() : request
    const how = new URL(request.url).pathname.slice(1)
    const bytes = how === 'arrayBuffer' ? new Uint8Array(await copy.arrayBuffer()) : undefined
    const text =
      how === 'json'
        ? JSON.stringify(await copy.json())
        : how === 'body'
          ? await new Response(copy.body).text()
          : how === 'blob'
            ? await (await copy.blob()).text()
            : bytes === undefined
              ? await copy.text()
              : new TextDecoder().decode(bytes)
    return Response.json({
      method: request.method,
      type: request.headers.get('Content-Type'),
      text,
    })
  })
  for (const path of ['/text', '/json', '/arrayBuffer', '/body', '/blob', '/text?clone', '/json?clone']) {
    const sent = send('PUT', path, { 'content-type': 'application/json' })
    sent.write('{"a":')
    expect(JSON.parse((await answerTo(sent.end('"ü"}'))).text), path).toEqual({
      method: 'PUT',
      type: 'application/json',
      text: '{"a":"ü"}',
    })
  }
})

test('a request target is normalised as a browser would, or rejected', async () => {
  const { port } = await listening((request) => new Response(request.url))
  const urlOf = async (target: string, host = 'localhost'): Promise<string> => {
    const text = await raw(port, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    return text.startsWith('HTTP/1.1 200') ? (text.split('\r\n\r\n')[1] ?? '') : text.slice(9, 12)
  }
  expect(await urlOf('/a?b=c%20d')).toBe('http://localhost/a?b=c%20d')
  expect(await urlOf('/a/../secret')).toBe('http://localhost/secret')
  expect(await urlOf('/a"b')).toBe('http://localhost/a%22b')
  expect(await urlOf('/', '[::1]:8080')).toBe('http://[::1]:8080/')
  expect(await urlOf('http://elsewhere/a')).toBe('http://elsewhere/a')
  expect(await urlOf('/a\\b')).toBe('400')
  expect(await urlOf('*')).toBe('400')
  expect(await urlOf('/', 'localhost/x')).toBe('400')
  expect(await urlOf('/', '')).toBe('400')
})

test('a header that is sent twice is joined, never chosen from', async () => {
  const { port } = await listening((request) => new Response(request.headers.get('authorization')))
  const text = await raw(
    port,
    'GET / HTTP/1.1\r\nhost: a\r\nauthorization: one\r\nauthorization: two\r\nconnection: close\r\n\r\n',
  )
  expect(text).toContain('one, two')
})

test('an unread body is drained: its refusal arrives, and the connection serves the next request', async () => {
  const { send } = await listening((request) => new Response(request.method, { status: 413 }))
  for (const path of ['/first', '/second', '/third']) {
    const sent = send('POST', path)
    sent.end('x'.repeat(300_000))
    expect(await answerTo(sent), path).toMatchObject({ statusCode: 413, text: 'POST' })
  }
})

test('a body that is refused after its first piece: the refusal arrives, and the connection ends in bounded time', async () => {
  const { send } = await listening(async (request) => {
    for await (const _ of request.body ?? []) break
    return new Response(request.method, { status: 413 })
  })
  const sent = send('POST', '/')
  sent.write('x'.repeat(300_000))
  const ended = once(sent, 'close')
  expect(await answerTo(sent)).toMatchObject({ statusCode: 413, text: 'POST' })
  await ended
})

test('a stream is pulled as its client reads, and cancelled when the client disconnects', async () => {
  let pulled = 0
  let cancelled: (reason: unknown) => void
  const end = new Promise((resolve) => (cancelled = resolve))
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled += 1
      controller.enqueue(new Uint8Array(100_000))
    },
    cancel: (reason) => cancelled(reason),
  })
  const { send, problems } = await listening(
    () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  )
  const sent = send('GET', '/').end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  await once(response, 'readable')
  for (let before = -1; before !== pulled; await new Promise((resolve) => setTimeout(resolve, 100))) before = pulled
  expect(pulled).toBeLessThan(1_000)
  sent.destroy()
  await end
  expect(problems).toEqual([])
})

test('a stream that fails ends its connection', async () => {
  const { send } = await listening(() => {
    let pulls = 0
    return new Response(
      new ReadableStream({
        async pull(controller) {
          pulls += 1
          if (pulls === 1) return controller.enqueue(new TextEncoder().encode('half'))
          await new Promise((resolve) => setTimeout(resolve, 50))
          throw new Error('broken')
        },
      }),
    )
  })
  await expect(answerTo(send('GET', '/').end())).rejects.toThrow('aborted')
})

test('the signal of a request aborts when its client disconnects, not when it has its answer', async () => {
  const signals: AbortSignal[] = []
  const { send } = await listening(async ({ url, signal }) => {
    signals.push(signal)
    if (url.endsWith('/hang')) await once(signal, 'abort')
    return new Response('ok')
  })
  await answerTo(send('GET', '/').end())
  const hanging = send('GET', '/hang').end()
  await expect.poll(() => signals.length, { timeout: 20_000 }).toBe(2)
  hanging.destroy()
  await expect.poll(() => signals[1]?.aborted, { timeout: 20_000 }).toBe(true)
  expect(signals[0]?.aborted).toBe(false)
})

test('a handler that throws answers 500', async () => {
  const { send, problems } = await listening(() => Promise.reject(new Error('no')))
  expect(await answerTo(send('GET', '/').end())).toMatchObject({ statusCode: 500 })
  expect(problems).toHaveLength(1)
})

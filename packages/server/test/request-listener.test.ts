import { once } from 'node:events'
import { Agent, createServer, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { PlainResponse } from '../src/web/plain-response.js'
import { requestListener } from '../src/web/request-listener.js'

// What stands between Node's server and the app: real sockets, since nothing else shows where bytes go.

type Answering = (request: Request) => Response | Promise<Response>

interface Listening {
  readonly port: number
  readonly problems: unknown[]
  readonly send: (method: string, path: string, headers?: Record<string, string | number>) => ClientRequest
}

async function listening(answer: Answering): Promise<Listening> {
  const problems: unknown[] = []
  const server = createServer(
    { joinDuplicateHeaders: true },
    requestListener(answer, (problem) => problems.push(problem)),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(async () => {
    agent.destroy()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
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

const plain = (...given: ConstructorParameters<typeof PlainResponse>): Response =>
  new PlainResponse(...given) as unknown as Response

/** The bytes that a server sends to bytes as they are. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  onTestFinished(() => void socket.destroy())
  socket.end(bytes)
  let text = ''
  for await (const chunk of socket) text += chunk as string
  return text
}

test.each([
  ['ours', (text: string) => plain(text, { headers: { 'content-type': 'application/json' } })],
  [
    'ours with headers of Node',
    (text: string) => plain(text, { headers: new Headers({ 'Content-Type': 'application/json' }) }),
  ],
  ['one of Node', (text: string) => new Response(text, { headers: { 'content-type': 'application/json' } })],
  ['ours, made by its own json()', (text: string) => PlainResponse.json(JSON.parse(text)) as unknown as Response],
  [
    'ours, which something has looked into',
    (text: string) => {
      const response = plain(text, { headers: { 'content-type': 'application/json' } })
      response.headers.set('x-more', 'yes')
      void response.clone()
      return response
    },
  ],
])('a whole answer goes with its length: %s', async (_, make) => {
  const { send } = await listening(() => make('{"ü":1}'))
  const response = await answerTo(send('GET', '/').end())
  expect(response.text).toBe('{"ü":1}')
  expect(response.headers).toMatchObject({ 'content-type': 'application/json', 'content-length': '8' })
})

test('an answer without a body, and one to HEAD, go without one', async () => {
  const { send } = await listening((request) =>
    request.method === 'HEAD'
      ? plain(null, { headers: { 'content-type': 'text/plain' } })
      : plain(null, { status: 204 }),
  )
  expect(await answerTo(send('GET', '/').end())).toMatchObject({ statusCode: 204, text: '' })
  const head = await answerTo(send('HEAD', '/').end())
  expect(head).toMatchObject({ statusCode: 200, text: '' })
  expect(head.headers['content-type']).toBe('text/plain')
})

test('a request has what was sent: method, URL, headers and body, each way to read it', async () => {
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
    return PlainResponse.json({
      method: request.method,
      type: request.headers.get('Content-Type'),
      text,
    }) as unknown as Response
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

test('a target is the URL that a browser would make of it, or refused', async () => {
  const { port } = await listening((request) => plain(request.url))
  const told = async (target: string, host = 'localhost'): Promise<string> => {
    const text = await raw(port, `GET ${target} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
    return text.startsWith('HTTP/1.1 200') ? (text.split('\r\n\r\n')[1] ?? '') : text.slice(9, 12)
  }
  expect(await told('/a?b=c%20d')).toBe('http://localhost/a?b=c%20d')
  expect(await told('/a/../secret')).toBe('http://localhost/secret')
  expect(await told('/a"b')).toBe('http://localhost/a%22b')
  expect(await told('/', '[::1]:80')).toBe('http://[::1]:80/')
  expect(await told('http://elsewhere/a')).toBe('http://elsewhere/a')
  expect(await told('/a\\b')).toBe('400')
  expect(await told('*')).toBe('400')
  expect(await told('/', 'localhost/x')).toBe('400')
  expect(await told('/', '')).toBe('400')
})

test('of a header that is there twice none is chosen', async () => {
  const { port } = await listening((request) => plain(request.headers.get('authorization')))
  const text = await raw(
    port,
    'GET / HTTP/1.1\r\nhost: a\r\nauthorization: one\r\nauthorization: two\r\nconnection: close\r\n\r\n',
  )
  expect(text).toContain('one, two')
})

test('a body that nobody wanted is no part of the next request, and a refusal in its middle arrives', async () => {
  const { send } = await listening(async (request) => {
    if (request.url.endsWith('/some')) for await (const _ of request.body ?? []) break
    return plain(request.method, { status: 413 })
  })
  for (const path of ['/none', '/some', '/none']) {
    const sent = send('POST', path)
    sent.end('x'.repeat(300_000))
    expect(await answerTo(sent), path).toMatchObject({ statusCode: 413, text: 'POST' })
  }
})

test('a stream is pulled as its client reads, and ended when the client goes', async () => {
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
  const { send, problems } = await listening(() => plain(body, { headers: { 'content-type': 'text/event-stream' } }))
  const sent = send('GET', '/').end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  await once(response, 'readable')
  for (let before = -1; before !== pulled; await new Promise((resolve) => setTimeout(resolve, 100))) before = pulled
  expect(pulled).toBeLessThan(1_000)
  sent.destroy()
  await end
  expect(problems).toEqual([])
})

test('a stream that fails ends its connection, and says so to who is in charge', async () => {
  const { send, problems } = await listening(() => {
    let first = true
    return plain(
      new ReadableStream({
        pull(controller) {
          if (!first) throw new Error('broken')
          first = false
          controller.enqueue(new TextEncoder().encode('half'))
        },
      }),
    )
  })
  await expect(answerTo(send('GET', '/').end())).rejects.toThrow('aborted')
  expect(problems).toMatchObject([{ message: 'broken' }])
})

test('the signal of a request aborts when its client goes, and not when it has its answer', async () => {
  const signals: AbortSignal[] = []
  const { send } = await listening(async ({ url, signal }) => {
    signals.push(signal)
    if (url.endsWith('/hang')) await once(signal, 'abort')
    return plain('ok')
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

test('our Response is a Response: what handlers and libraries ask of one', async () => {
  expect([new PlainResponse(), new Response()].map((each) => each instanceof PlainResponse)).toEqual([true, true])
  expect({} instanceof PlainResponse).toBe(false)
  const response = new PlainResponse('{"a":1}', {
    status: 201,
    headers: [
      ['Set-Cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ],
  })
  expect(response).toMatchObject({ status: 201, ok: true, bodyUsed: false })
  expect([...response.headers]).toEqual([
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['content-type', 'text/plain;charset=UTF-8'],
  ])
  const copy = new PlainResponse(null, response)
  expect([copy.status, copy.headers.getSetCookie()]).toEqual([201, ['a=1', 'b=2']])
  expect(await response.clone().text()).toBe('{"a":1}')
  expect(await response.json()).toEqual({ a: 1 })
  expect(response.bodyUsed).toBe(true)
  expect(PlainResponse.redirect('http://a/b')).toMatchObject({ status: 302 })
  expect(PlainResponse.error().type).toBe('error')
})

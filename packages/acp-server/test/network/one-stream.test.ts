import type { AcpEndpointDeps } from '@agentproto/acp-server'
import type { AcpCaller } from '@agentproto/contracts/wire'
import { expect, test, vi } from 'vitest'
import { answered, OWNER, testEndpoint, type TestEndpoint, token } from './network-client.ts'

// Clients that name their connection themselves and have one event stream for all of it, request by request.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(() => expect(condition()).toBeTruthy(), { timeout: 10_000 })

interface Call {
  readonly id?: string
  readonly caller?: AcpCaller
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

class Client {
  readonly under: TestEndpoint
  readonly #id: string
  readonly #caller: AcpCaller

  constructor(under: TestEndpoint, { id = 'client-1', caller = { by: OWNER } }: Call = {}) {
    this.under = under
    this.#id = id
    this.#caller = caller
  }

  call(method: string, { headers = {}, body }: Call = {}): Promise<Response> {
    const sent = { 'acp-client-id': this.#id, 'content-type': 'application/json', ...headers }
    const request = new Request('http://localhost/acp', {
      method,
      headers: sent,
      ...(body === undefined ? {} : { body }),
    })
    return answered(this.under.endpoint, request, this.#caller)
  }

  async post(message: object): Promise<number> {
    return (await this.call('POST', { body: JSON.stringify({ jsonrpc: '2.0', ...message }) })).status
  }

  initialize(): Promise<number> {
    const params = { protocolVersion: 1, clientCapabilities: {} }
    return this.post({ id: 0, method: 'initialize', params })
  }

  async open(): Promise<string> {
    await this.post({ id: 1, method: 'session/new', params: { cwd: '/work', mcpServers: [] } })
    await until(() => this.under.sessions.sessions.size > 0)
    return [...this.under.sessions.sessions.keys()][0] ?? ''
  }

  async stream(last?: number | string): Promise<Stream> {
    const headers = last === undefined ? {} : { 'last-event-id': String(last) }
    return new Stream(await this.call('GET', { headers }))
  }
}

interface Event {
  readonly id: number
  readonly message: { readonly id?: number; readonly result?: object; readonly params?: { readonly update?: unknown } }
}

class Stream {
  readonly status: number
  readonly headers: Headers
  readonly events: Event[] = []
  isOver = false
  readonly #reader: ReadableStreamDefaultReader<Uint8Array> | undefined

  constructor({ status, headers, body }: Response) {
    this.status = status
    this.headers = headers
    if (status !== 200) return
    this.#reader = body?.getReader() as ReadableStreamDefaultReader<Uint8Array>
    void this.#read(this.#reader)
  }

  /** As a client whose connection is cut. */
  cut(): Promise<void> | undefined {
    return this.#reader?.cancel()
  }

  async #read(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read())
      for (const block of decoder.decode(value).split('\n\n')) this.#block(block)
    this.isOver = true
  }

  #block(block: string): void {
    const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? []
    if (data !== undefined) this.events.push({ id: Number(id), message: JSON.parse(data) as Event['message'] })
  }
}

const numbersIn = ({ events }: Stream): number[] => events.map(({ id }) => id)

const update = (text: string) => ({ type: 'text-delta', text }) as const

const textsIn = (...streams: readonly Stream[]): string[] =>
  streams.flatMap(({ events }) =>
    events.flatMap(({ message }) => {
      const { content } = (message.params?.update ?? {}) as { content?: { text?: string } }
      return content?.text === undefined ? [] : [content.text]
    }),
  )

/** A client with an open session, whose stream is at its end. */
async function connected(deps: Partial<AcpEndpointDeps> = {}): Promise<{ client: Client; stream: Stream; id: string }> {
  const client = new Client(testEndpoint(deps))
  const stream = await client.stream()
  expect(await client.initialize()).toBe(202)
  const id = await client.open()
  await until(() => stream.events.length === 2)
  await until(() => client.under.sessions.the(id).followers > 0)
  return { client, stream, id }
}

test('the stream may be opened before initialize; every answer is an event with a number', async () => {
  const client = new Client(testEndpoint())
  const stream = await client.stream()
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(await client.initialize()).toBe(202)
  await until(() => stream.events.length === 1)
  expect(stream.events).toMatchObject([{ id: 1, message: { id: 0, result: { protocolVersion: 1 } } }])
  expect((await client.call('DELETE')).status).toBe(202)
  await until(() => stream.isOver)
  expect((await client.call('DELETE')).status).toBe(404)
})

test('what was sent while no stream was open comes in the next one', async () => {
  const client = new Client(testEndpoint())
  expect(await client.initialize()).toBe(202)
  const id = await client.open()
  const stream = await client.stream()
  await until(() => stream.events.length === 2)
  await stream.cut()
  client.under.sessions.the(id).says(update('one'))
  const next = await client.stream()
  await until(() => textsIn(next).length === 1)
  expect(numbersIn(next)).toEqual([3])
})

test('with Last-Event-ID a stream begins where the one before was cut, also before what was handed out', async () => {
  const { client, stream, id } = await connected()
  const session = client.under.sessions.the(id)
  for (const text of ['one', 'two', 'three']) session.says(update(text))
  await until(() => textsIn(stream).length === 3)
  await stream.cut()
  // The client got the first of them.
  const next = await client.stream(3)
  session.says(update('four'))
  await until(() => textsIn(next).length === 3)
  expect([textsIn(next), numbersIn(next)]).toEqual([
    ['two', 'three', 'four'],
    [4, 5, 6],
  ])
  for (const last of [7, -1, 1.5, 'x']) expect((await client.stream(last)).status, String(last)).toBe(404)
})

test('a stream that begins where nothing is kept any more is refused: the client must begin again', async () => {
  const { client, stream, id } = await connected()
  const session = client.under.sessions.the(id)
  for (let count = 0; count < 40; count++) session.says(update('x'.repeat(10_000)))
  await until(() => textsIn(stream).length === 40)
  expect((await client.stream(3)).status).toBe(404)
  const next = await client.stream(stream.events.at(-2)?.id)
  await until(() => textsIn(next).length === 1)
})

test('a second stream replaces the first; nothing is sent twice', async () => {
  const { client, stream, id } = await connected()
  const second = await client.stream()
  await until(() => stream.isOver)
  client.under.sessions.the(id).says(update('one'))
  await until(() => textsIn(second).length === 1)
  expect(textsIn(stream)).toEqual([])
})

test('a connection is its caller’s and its path’s, and begins with initialize', async () => {
  const { client } = await connected()
  const { under } = client
  const strangers = [
    new Client(under, { caller: { by: token('other') } }),
    new Client(under, { caller: { by: OWNER, agent: 'demo' } }),
    new Client(under, { id: 'client-2' }),
  ]
  for (const stranger of strangers) {
    expect(await stranger.post({ id: 1, method: 'session/list', params: {} })).toBe(404)
    expect((await stranger.stream(1)).status).toBe(404)
    expect((await stranger.call('DELETE')).status).toBe(404)
    // Its own connection of this name, before initialize.
    await stranger.stream()
    expect(await stranger.post({ id: 1, method: 'session/list', params: {} })).toBe(400)
  }
  expect(await client.initialize()).toBe(400)
  expect(await client.post({ id: 2, method: 'session/list', params: {} })).toBe(202)
})

test('what is not one message of JSON is refused, and so is an id of another form', async () => {
  const { client } = await connected({ limits: { messageBytes: 1_000 } })
  const post = async (body: string, headers = {}): Promise<number> =>
    (await client.call('POST', { body, headers })).status
  const list = '{"jsonrpc":"2.0","id":5,"method":"session/list","params":{}}'
  expect(await post(list, { 'content-type': 'text/plain' })).toBe(415)
  expect(await post('{"jsonrpc":')).toBe(400)
  expect(await post(`[${list}]`)).toBe(400)
  expect(await post('1')).toBe(400)
  expect(await post(' '.repeat(1_001))).toBe(413)
  for (const id of ['', 'a b', 'ä', 'x'.repeat(129)])
    expect(await post(list, { 'acp-client-id': encodeURI(id) }), id).toBe(400)
  expect((await client.call('PUT', { body: list })).status).toBe(405)
  expect(await post(list)).toBe(202)
  expect(client.under.printed).toEqual([])
})

test('without initialize in time, or without a stream and requests for too long, a connection ends', async () => {
  const under = testEndpoint()
  const silent = new Client(under)
  const stream = await silent.stream()
  under.clock.advance(10_000)
  await until(() => stream.isOver)
  expect((await silent.call('DELETE')).status).toBe(404)

  const idle = new Client(under, { id: 'idle' })
  await idle.initialize()
  const open = await idle.stream()
  under.clock.advance(300_000)
  expect(open.isOver).toBe(false)
  await open.cut()
  under.clock.advance(299_999)
  expect(await idle.post({ id: 1, method: 'session/list', params: {} })).toBe(202)
  under.clock.advance(299_999)
  expect(await idle.post({ id: 2, method: 'session/list', params: {} })).toBe(202)
  under.clock.advance(300_000)
  await vi.waitFor(async () => expect((await idle.call('DELETE')).status).toBe(404))
})

test('a client that does not read loses its connection and nothing else', async () => {
  const { client, stream, id } = await connected({ limits: { outputBytes: 1_000 } })
  await stream.cut()
  const { sessions, clock } = client.under
  for (let count = 0; count < 50; count++) sessions.the(id).says(update('x'.repeat(100)))
  await new Promise(setImmediate)
  clock.advance(30_000)
  await vi.waitFor(async () => expect((await client.call('DELETE')).status).toBe(404))
  expect(sessions.the(id).snapshot().status).toBe('running')
  await until(() => sessions.the(id).followers === 0)
})

test('a client that reads again in time keeps its connection, and has all of it', async () => {
  const { client, stream, id } = await connected({ limits: { outputBytes: 1_000 } })
  await stream.cut()
  const { sessions, clock } = client.under
  for (let count = 0; count < 50; count++) sessions.the(id).says(update(`${count} ${'x'.repeat(100)}`))
  await new Promise(setImmediate)
  clock.advance(29_000)
  const next = await client.stream(2)
  await until(() => textsIn(next).length === 50)
  clock.advance(29_000)
  expect(next.isOver).toBe(false)
})

test('connections end with the token and with the gateway, and are bounded', async () => {
  const ended = new AbortController()
  const under = testEndpoint({ limits: { connections: 2 } })
  const caller = { by: token('phone'), ended: ended.signal }
  const first = new Client(under, { caller })
  const stream = await first.stream()
  await first.initialize()
  // A named token has at most a half of the places.
  const second = new Client(under, { caller, id: 'client-2' })
  expect([await second.initialize(), (await second.stream()).status]).toEqual([429, 429])
  ended.abort()
  await until(() => stream.isOver)
  expect((await first.call('DELETE')).status).toBe(404)
  const owner = new Client(under)
  const last = await owner.stream()
  await owner.initialize()
  await under.endpoint.close()
  await until(() => last.isOver)
})

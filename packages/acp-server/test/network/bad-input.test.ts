import { expect, test } from 'vitest'
import { OWNER, socketUrl, testEndpoint, token } from './network-client.ts'
import { greeted, INITIALIZE, rawSocket, RawHttp, request, until } from './wire.ts'

// What a client of the network sends that is not right is refused, each time so that the client can see it; and it prints nothing.

test('a WebSocket: JSON that is none, an array and deep nesting are answered, and the connection goes on', async () => {
  const under = testEndpoint()
  const { messages, say } = await greeted(await socketUrl(under))
  say('{')
  say([request(1, 'session/list')])
  say('['.repeat(100_000) + ']'.repeat(100_000))
  say('42')
  say(request(2, 'session/list'))
  await until(() => messages.some(({ id }) => id === 2))
  const codes = messages.filter(({ id }) => id === null).map(({ error }) => (error as { code: number }).code)
  expect(codes).toEqual([-32_700, -32_600, -32_600, -32_600])
  expect(under.printed).toEqual([])
})

test('a WebSocket: a binary frame ends it with 1003, a message that is too large with 1009', async () => {
  const under = testEndpoint({ limits: { messageBytes: 1_000 } })
  const url = await socketUrl(under)
  const binary = await greeted(url)
  binary.socket.send(Buffer.from('{}'))
  expect(await binary.closed).toEqual({ code: 1003, reason: 'Messages are text frames' })
  const large = await greeted(url)
  large.say(JSON.stringify(request(1, 'session/list', { cwd: 'x'.repeat(1_000) })))
  expect((await large.closed).code).toBe(1009)
  expect(under.printed).toEqual([])
})

test.each([
  ['another method', request(1, 'session/list')],
  ['no JSON', '{'],
  ['a notification', { jsonrpc: '2.0', method: 'initialize' }],
])('a WebSocket that begins with %s ends with 1002', async (_, first) => {
  const under = testEndpoint()
  const { closed, say } = await rawSocket(await socketUrl(under))
  say(first)
  expect(await closed).toEqual({ code: 1002, reason: 'The first message must be initialize' })
  expect(under.printed).toEqual([])
})

test('notifications and answers that fit nothing are ignored without a line in the log', async () => {
  const under = testEndpoint()
  const { messages, say } = await greeted(await socketUrl(under))
  say({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 4 } })
  say({ jsonrpc: '2.0', method: 'session/cancel' })
  say({ jsonrpc: '2.0', id: 77, result: {} })
  say({ jsonrpc: '2.0', id: 77 })
  say({ jsonrpc: '2.0', result: {} })
  say({ jsonrpc: '2.0', method: '_other/thing' })
  say(request(2, 'session/list'))
  await until(() => messages.some(({ id }) => id === 2))
  expect(messages).toHaveLength(2)
  expect(under.printed).toEqual([])
  expect(under.problems).toEqual([])
})

test('ids: none and one that is too long are refused, the same one twice is answered twice', async () => {
  const under = testEndpoint()
  const { messages, say } = await greeted(await socketUrl(under))
  say({ jsonrpc: '2.0', id: null, method: 'session/list', params: {} })
  say(request('x'.repeat(1_025), 'session/list'))
  say(request(5, 'session/list'))
  say(request(5, 'session/list'))
  await until(() => messages.filter(({ id }) => id === 5).length === 2)
  expect(messages.filter(({ id }) => id === null)).toHaveLength(2)
})

test('more open requests than the bound are refused, and those that are open are answered', async () => {
  const under = testEndpoint({ limits: { openRequests: 2 } })
  const { messages, say } = await greeted(await socketUrl(under))
  say(request(1, 'session/new', { cwd: '/work', mcpServers: [] }))
  await until(() => messages.some(({ id }) => id === 1))
  const sessionId = 'n1'
  expect(messages).toContainEqual(
    expect.objectContaining({ id: 1, result: expect.objectContaining({ sessionId }) as object }),
  )
  for (const id of [2, 3, 4])
    say(request(id, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: `${id}` }] }))
  await until(() => messages.some(({ id }) => id === 4))
  expect(messages.find(({ id }) => id === 4)).toMatchObject({ error: { data: { code: 'request_limit_reached' } } })
  await until(() => under.sessions.the(sessionId).turn === 1)
  under.sessions.the(sessionId).ends('end_turn')
  under.sessions.the(sessionId).ends('end_turn')
  await until(() => [2, 3].every((asked) => messages.some(({ id }) => id === asked)))
  say(request(5, 'session/list'))
  await until(() => messages.some(({ id }) => id === 5))
})

test('HTTP: no id, an unknown one, a foreign one and one of another path are refused alike', async () => {
  const under = testEndpoint()
  const owner = await new RawHttp(under).initialize()
  const list = request(1, 'session/list')
  expect((await owner.post(list, {})).status).toBe(400)
  expect((await owner.post(list, { 'acp-connection-id': 'nope' })).status).toBe(404)
  for (const caller of [{ by: token('other', 'admin') }, { by: { ...token('owner') } }, { by: OWNER, agent: 'demo' }]) {
    const other = new RawHttp(under, caller)
    other.connectionId = owner.connectionId
    for (const response of [await other.post(list), await other.get(), await other.send('DELETE', other.headers())]) {
      expect(response.status).toBe(404)
      expect(await response.text()).toBe('Unknown Acp-Connection-Id')
    }
  }
  expect((await owner.post(list)).status).toBe(202)
  expect(under.printed).toEqual([])
})

test('the id of a WebSocket is none of HTTP', async () => {
  const under = testEndpoint()
  const { connectionId, reject } = under.endpoint.upgrade({ by: OWNER }) as { connectionId: string; reject(): void }
  const http = new RawHttp(under)
  http.connectionId = connectionId
  expect((await http.get()).status).toBe(404)
  reject()
})

test('HTTP: a body that is none, an array, too much, or of another type is refused', async () => {
  const under = testEndpoint({ limits: { messageBytes: 1_000 } })
  const http = await new RawHttp(under).initialize()
  expect((await http.post('{')).status).toBe(400)
  const array = await http.post([INITIALIZE])
  expect([array.status, await array.json()]).toMatchObject([400, { error: { code: -32_600 } }])
  expect((await http.post('['.repeat(200) + ']'.repeat(200))).status).toBe(400)
  expect((await http.post('"text"')).status).toBe(400)
  const large = await http.post(request(1, 'x', { text: 'x'.repeat(1_000) }))
  expect([large.status, await large.json()]).toMatchObject([413, { code: 'payload_too_large' }])
  expect((await http.send('POST', { ...http.headers(), 'content-type': 'text/plain' }, '{}')).status).toBe(415)
  expect((await http.send('PUT', http.headers(), '{}')).status).toBe(405)
  expect((await http.get({ ...http.headers(), accept: 'text/html' })).status).toBe(406)
  expect((await http.post(INITIALIZE)).status).toBe(400)
  expect(under.printed).toEqual([])
})

test('HTTP: a method of a session names it in the header too', async () => {
  const under = testEndpoint()
  const http = await new RawHttp(under).initialize()
  const load = request(1, 'session/load', { sessionId: 's1', cwd: '/', mcpServers: [] })
  expect((await http.post(load)).status).toBe(400)
  expect((await http.post(load, http.headers('s2'))).status).toBe(400)
})

test('HTTP: streams and named sessions of one connection are bounded', async () => {
  const under = testEndpoint({ limits: { sessionStreams: 2 } })
  const http = await new RawHttp(under).initialize()
  expect((await http.get()).status).toBe(200)
  expect((await http.get()).status).toBe(409)
  const streams = [await http.get(http.headers('a')), await http.get(http.headers('b'))]
  expect(streams.map(({ status }) => status)).toEqual([200, 200])
  const third = await http.get(http.headers('c'))
  expect([third.status, await third.json()]).toMatchObject([429, { code: 'stream_limit_reached' }])
  await streams[0]?.body?.cancel()
  expect((await http.get(http.headers('c'))).status).toBe(200)
  const close = (id: number): Promise<Response> =>
    http.post(request(id, 'session/close', { sessionId: `n${id}` }), http.headers(`n${id}`))
  const statuses = []
  for (let id = 0; id < 20; id++) statuses.push((await close(id)).status)
  expect(statuses.filter((status) => status === 429)).toHaveLength(7)
  expect(under.printed).toEqual([])
})

test('an error that is not ours is logged, and its text is not sent', async () => {
  const errors: unknown[] = []
  const under = testEndpoint({ onError: (error) => errors.push(error) })
  under.sessions.prompt = () => Promise.reject(new TypeError('secret is undefined'))
  const { messages, say } = await greeted(await socketUrl(under))
  under.sessions.add('s1')
  say(request(1, 'session/resume', { sessionId: 's1', cwd: '/', mcpServers: [] }))
  say(request(2, 'session/list'))
  await until(() => messages.some(({ id }) => id === 2))
  say(request(3, 'session/prompt', { sessionId: 's1', prompt: [{ type: 'text', text: 'x' }] }))
  await until(() => messages.some(({ id }) => id === 3))
  expect(messages.at(-1)).toMatchObject({ id: 3, error: { data: { code: 'internal' } } })
  expect(JSON.stringify(messages)).not.toContain('secret')
  expect(errors).toMatchObject([{ message: 'secret is undefined' }])
})

test('a flood of cancels is one interrupt, as long as that is not done; a later prompt gets one of its own', async () => {
  const under = testEndpoint()
  const session = under.sessions.add('s1')
  let release = (): void => undefined
  const { interrupt } = under.sessions
  under.sessions.interrupt = async (...given) => {
    await new Promise<void>((resolve) => (release = resolve))
    return interrupt.apply(under.sessions, given)
  }
  const { messages, say } = await greeted(await socketUrl(under))
  const answered = async (id: number): Promise<void> => until(() => messages.some((message) => message['id'] === id))
  const prompt = { sessionId: 's1', prompt: [{ type: 'text', text: 'x' }] }
  say(request(1, 'session/resume', { sessionId: 's1', cwd: '/', mcpServers: [] }))
  await answered(1)
  say(request(2, 'session/prompt', prompt))
  await until(() => session.turn === 1)
  const cancels = (): number => under.calls.filter(({ method }) => method === 'interrupt').length
  for (let times = 0; times < 500; times++)
    say({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } })
  say(request(3, 'session/list'))
  await answered(3)
  expect(cancels()).toBe(1)
  release()
  await answered(2)
  say(request(4, 'session/prompt', prompt))
  await until(() => session.turn === 2)
  say({ jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 's1' } })
  await until(() => cancels() === 2)
  release()
  await answered(4)
  expect(messages.find(({ id }) => id === 4)).toMatchObject({ result: { stopReason: 'cancelled' } })
})

import { AgentprotoError } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import type { AcpSocket } from '@agentproto/contracts/wire'
import { httpStream, networkClient, OWNER, socketStream, socketUrl, testEndpoint, token } from './network-client.ts'
import { greeted, INITIALIZE, rawSocket, RawHttp, request, until } from './wire.ts'

// A connection lasts as long as its client, its token and its place; the session never depends on it.

/** A socket whose other end a test plays. */
class PlayedSocket implements AcpSocket {
  bufferedAmount = 0
  readonly sent: Record<string, unknown>[] = []
  readonly closes: unknown[] = []
  pings = 0
  isTerminated = false
  #taken: (() => void)[] = []
  readonly #listeners = new Map<string, ((...args: never[]) => void)[]>()
  /** Whether the client takes nothing. */
  isStuck = false

  send(text: string, sent?: () => void): void {
    this.sent.push(JSON.parse(text) as Record<string, unknown>)
    if (this.isStuck) this.bufferedAmount += text.length
    if (sent !== undefined) this.#taken.push(sent)
  }
  ping(): void {
    this.pings++
  }
  close(code?: number, reason?: string): void {
    this.closes.push([code, reason])
  }
  terminate(): void {
    this.isTerminated = true
  }
  on(event: string, listener: (...args: never[]) => void): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener])
  }
  emit(event: string, ...args: unknown[]): void {
    for (const each of this.#listeners.get(event) ?? []) each(...(args as never[]))
  }
  say(message: object): void {
    this.emit('message', Buffer.from(JSON.stringify(message)), false)
  }
  takes(): void {
    this.bufferedAmount = 0
    for (const each of this.#taken.splice(0)) each()
  }
}

const played = (under: ReturnType<typeof testEndpoint>, caller = { by: OWNER }): PlayedSocket => {
  const socket = new PlayedSocket()
  const { accept } = under.endpoint.upgrade(caller)
  accept(socket)
  return socket
}

test('a client that sends no initialize in time loses its connection', async () => {
  const under = testEndpoint()
  const { closed } = await rawSocket(await socketUrl(under))
  under.clock.advance(9_999)
  under.clock.advance(1)
  expect(await closed).toEqual({ code: 1008, reason: 'No initialize in time' })
})

test('a client that answers no ping loses its connection; one that still takes output keeps it', async () => {
  const under = testEndpoint()
  const socket = played(under)
  socket.say(INITIALIZE)
  await until(() => socket.sent.length === 1)
  under.clock.advance(20_000)
  expect(socket.pings).toBe(1)
  socket.emit('pong')
  under.clock.advance(20_000)
  expect([socket.pings, socket.isTerminated]).toEqual([2, false])
  socket.bufferedAmount = 500
  under.clock.advance(10_000)
  expect(socket.isTerminated).toBe(true)

  const slow = played(under)
  slow.say(INITIALIZE)
  await until(() => slow.sent.length === 1)
  slow.bufferedAmount = 500
  under.clock.advance(20_000)
  slow.bufferedAmount = 400
  under.clock.advance(10_000)
  expect(slow.isTerminated).toBe(false)
})

test('a slow reader stops the reading for it, and then loses its connection alone; its session goes on', async () => {
  const under = testEndpoint({ limits: { outputBytes: 10_000 } })
  const session = under.sessions.add('s1')
  session.begins([{ type: 'text', text: 'go' }])
  const [slow, fast] = [played(under), played(under)]
  for (const socket of [slow, fast]) {
    socket.say(INITIALIZE)
    await until(() => socket.sent.length === 1)
    socket.say(request(1, 'session/load', { sessionId: 's1', cwd: '/', mcpServers: [] }))
    await until(() => socket.sent.some(({ id }) => id === 1))
  }
  slow.isStuck = true
  const count = (socket: PlayedSocket): number => socket.sent.filter(({ method }) => method === 'session/update').length
  for (let at = 0; at < 1_000; at++) session.says({ type: 'text-delta', text: 'x'.repeat(100) })
  await until(() => count(fast) === 1_001)
  const before = count(slow)
  expect(before).toBeLessThan(100)
  under.clock.advance(15_000)
  slow.takes()
  await until(() => count(slow) > before)
  expect(slow.isTerminated).toBe(false)
  // Both answer pings; one takes nothing.
  for (let seconds = 0; seconds < 50; seconds += 5) {
    for (const socket of [slow, fast]) socket.emit('pong')
    under.clock.advance(5_000)
  }
  expect([slow.isTerminated, fast.isTerminated]).toEqual([true, false])
  await until(() => session.followers === 1)
  session.ends('end_turn')
  expect(fast.isTerminated).toBe(false)
})

test('requests that wait for a client that does not read are bounded', async () => {
  const under = testEndpoint({ limits: { outputBytes: 10_000, openRequests: 2 } })
  const socket = played(under)
  socket.say(INITIALIZE)
  await until(() => socket.sent.length === 1)
  socket.isStuck = true
  for (let id = 0; id < 2_000 && socket.closes.length === 0; id++) {
    socket.say(request(id, 'session/list', { text: 'x'.repeat(500) }))
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(socket.closes).toEqual([[1008, 'Too many messages wait; read the answers']])
})

test('connections are shared: one token has an eighth, and gets the error in clear', async () => {
  const under = testEndpoint({ limits: { connections: 16 } })
  const greedy = new RawHttp(under, { by: token('greedy') })
  await greedy.initialize()
  await greedy.initialize()
  const third = await greedy.post(INITIALIZE, {})
  expect([third.status, await third.json()]).toMatchObject([429, { code: 'request_limit_reached' }])
  expect(() => under.endpoint.upgrade({ by: token('greedy') })).toThrow('Too many connections are open')
  await greedy.send('DELETE', greedy.headers())
  await greedy.initialize()
  for (let others = 0; others < 12; others++) await new RawHttp(under).initialize()
})

test('ten thousand upgrades that are refused or given up leave nothing', async () => {
  const under = testEndpoint({ limits: { connections: 8 } })
  for (let times = 0; times < 10_000; times++) {
    const { reject } = under.endpoint.upgrade({ by: OWNER })
    reject()
  }
  const { messages } = await greeted(await socketUrl(under))
  expect(messages).toMatchObject([{ id: 0, result: {} }])
})

test('a token that ends, ends its connections of both kinds, and no other', async () => {
  const under = testEndpoint()
  const ended = new AbortController()
  const caller = { by: token('brief'), ended: ended.signal }
  const socket = await greeted(await socketUrl(under, caller))
  const http = await new RawHttp(under, caller).initialize()
  const stream = await http.get()
  const other = await new RawHttp(under).initialize()
  ended.abort()
  expect(await socket.closed).toEqual({ code: 1008, reason: 'The token has ended' })
  expect(await stream.text()).toBe('')
  expect((await http.get()).status).toBe(404)
  expect((await other.get()).status).toBe(200)
})

test('a connection of HTTP ends when it has neither a stream nor a request for five minutes', async () => {
  const under = testEndpoint()
  const http = await new RawHttp(under).initialize()
  const stream = await http.get()
  under.clock.advance(600_000)
  expect((await http.post(request(1, 'session/list'))).status).toBe(202)
  await stream.body?.cancel()
  await until(() => true)
  under.clock.advance(299_999)
  expect((await http.post(request(2, 'session/list'))).status).toBe(202)
  under.clock.advance(300_000)
  expect((await http.get()).status).toBe(404)
})

test('128 streams of sessions on one connection, each with its own updates', async () => {
  const under = testEndpoint()
  const { agent, updates } = await networkClient(httpStream(under))
  const ids = Array.from({ length: 128 }, (_, at) => `s${at}`)
  for (const id of ids) under.sessions.add(id).begins([{ type: 'text', text: id }])
  for (const sessionId of ids) await agent.request('session/load', { sessionId, cwd: '/', mcpServers: [] })
  updates.splice(0)
  for (const id of ids) under.sessions.the(id).says({ type: 'text-delta', text: id })
  await until(() => updates.length === 128)
  expect(new Set(updates.map(({ sessionId, update }) => `${sessionId} ${JSON.stringify(update)}`)).size).toBe(128)
  under.sessions.add('more')
  await expect(agent.request('session/load', { sessionId: 'more', cwd: '/', mcpServers: [] })).rejects.toBeDefined()
})

test('a client that is gone changes nothing: it comes back and gets the rest and the pending question', async () => {
  const under = testEndpoint()
  const url = await socketUrl(under)
  const first = await networkClient(socketStream(url))
  const { sessionId } = await first.agent.request('session/new', { cwd: '/work', mcpServers: [] })
  const turn = first.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
  turn.catch(() => undefined)
  const session = (): ReturnType<typeof under.sessions.the> => under.sessions.the(sessionId)
  await until(() => session().turn === 1)
  session().says({ type: 'text-delta', text: 'one' })
  await until(() => first.updates.length === 1)
  first.close()
  await until(() => session().followers === 0)
  session().says({ type: 'text-delta', text: 'two' })
  session().asks('r1', {
    kind: 'permission',
    toolCall: { type: 'tool-call', toolCallId: 'c1', title: 'Write' },
    options: [{ optionId: 'yes', name: 'Allow', kind: 'allow_once' }],
  } as never)
  expect(session().busy).toBe(true)
  expect(under.calls.map(({ method }) => method)).toEqual(['spawn', 'prompt'])
  const second = await networkClient(socketStream(url))
  await second.agent.request('session/load', { sessionId, cwd: '/work', mcpServers: [] })
  await until(() => second.asked.length === 1)
  expect(second.updates.map(({ update }) => JSON.stringify(update))).toEqual(
    ['go', 'one', 'two'].map((text) => expect.stringContaining(text) as string),
  )
  second.asked[0]?.answer({ outcome: { outcome: 'selected', optionId: 'yes' } })
  await until(() => session().requests[0]?.state === 'resolved')
})

test('the end of the endpoint ends all connections, and opens none', async () => {
  const under = testEndpoint()
  const socket = await greeted(await socketUrl(under))
  const http = await new RawHttp(under).initialize()
  await under.endpoint.close()
  expect(await socket.closed).toEqual({ code: 1001, reason: 'The gateway is shutting down' })
  expect((await http.get()).status).toBe(404)
  expect((await http.post(INITIALIZE, {})).status).toBe(503)
  expect(() => under.endpoint.upgrade({ by: OWNER })).toThrow('shutting down')
  await under.endpoint.close()
})

test('HTTP: a client that leaves its output unread loses its connection, and nothing is printed; the session goes on', async () => {
  const under = testEndpoint({ limits: { outputBytes: 10_000 } })
  const session = under.sessions.add('s1')
  session.begins([{ type: 'text', text: 'go' }])
  const http = await new RawHttp(under).initialize()
  const other = await networkClient(httpStream(under))
  await other.agent.request('session/load', { sessionId: 's1', cwd: '/', mcpServers: [] })
  await http.post(request(1, 'session/resume', { sessionId: 's1', cwd: '/', mcpServers: [] }), http.headers('s1'))
  await until(() => session.followers === 2)
  for (let at = 0; at < 500; at++) session.says({ type: 'text-delta', text: 'x'.repeat(100) })
  await until(() => other.updates.length === 501)
  under.clock.advance(30_000)
  expect((await http.get()).status).toBe(404)
  await until(() => session.followers === 1)
  session.ends('end_turn')
  await other.agent.request('session/list', {})
  expect(under.printed).toEqual([])
})

test('a connection of HTTP that could not be initialized keeps no place', async () => {
  const adapters = {
    list: async () => [],
    get: async () => {
      throw new AgentprotoError('adapter_not_found', 'There is no such adapter')
    },
  }
  const under = testEndpoint({ adapters, limits: { connections: 4 } })
  for (let times = 0; times < 20; times++) {
    const response = await new RawHttp(under, { by: OWNER, agent: 'nope' }).post(INITIALIZE, {})
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { error: { data: { code: 'adapter_not_found' } } },
    ])
  }
})

test('many connections of one token, each with many sessions, make Node warn of nothing', async () => {
  const under = testEndpoint()
  const warnings: unknown[] = []
  const warned = (warning: unknown): void => void warnings.push(warning)
  process.on('warning', warned)
  const caller = { by: token('many'), ended: new AbortController().signal }
  const url = await socketUrl(under, caller)
  for (let at = 0; at < 20; at++) await greeted(url)
  const { agent } = await networkClient(socketStream(url))
  for (let at = 0; at < 20; at++) {
    under.sessions.add(`s${at}`)
    await agent.request('session/load', { sessionId: `s${at}`, cwd: '/', mcpServers: [] })
  }
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', warned)
  expect(warnings).toEqual([])
})

test('a long log that is read at once leaves every other client its turn', async () => {
  const under = testEndpoint()
  const session = under.sessions.add('s1')
  const socket = played(under)
  socket.say(INITIALIZE)
  await until(() => socket.sent.length === 1)
  socket.say(request(1, 'session/resume', { sessionId: 's1', cwd: '/', mcpServers: [] }))
  await until(() => session.followers === 1)
  for (let at = 0; at < 10_000; at++) session.says({ type: 'text-delta', text: 'x' })
  let turns = 0
  while (socket.sent.length < 10_002) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  expect(turns).toBeGreaterThan(20)
})

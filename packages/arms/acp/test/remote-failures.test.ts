import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { RecordingSink } from '@agentproto/arm-testing'
import { AgentprotoError } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { ManualClock } from '../../../session-registry/test/fixtures/manual-clock.ts'
import { connect, open, opening, textOf } from './connecting-remote.ts'
import { startRemoteAgent } from './fixtures/remote-agent.ts'

const TOKEN = 'the-secret-value'
const withToken = async () => ({ headers: { authorization: `Bearer ${TOKEN}` } })

/** A TCP server that answers everything with a text, or with nothing. */
async function plainServer(answer?: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
    if (answer !== undefined) socket.once('data', () => socket.end(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

for (const { status, code, says } of [
  { status: 401, code: 'auth_required', says: /refuses the credentials \(401\)/ },
  { status: 403, code: 'auth_required', says: /refuses the credentials \(403\)/ },
  { status: 404, code: 'handshake_failed', says: /There is nothing at ws:.*\/acp \(404\)/ },
  { status: 302, code: 'handshake_failed', says: /redirects \(302\), and redirects are not followed/ },
  { status: 429, code: 'handshake_failed', says: /cannot take the connection now \(429\)/ },
  { status: 503, code: 'handshake_failed', says: /cannot take the connection now \(503\)/ },
  { status: 400, code: 'handshake_failed', says: /answered 400 and opened no WebSocket/ },
]) {
  test(`an endpoint that answers ${status} is ${code}`, async () => {
    const agent = await startRemoteAgent()
    agent.refuses = status
    const failing = connect({ url: agent.url, access: withToken, secrets: ['build-server'] })
    await expect(failing).rejects.toMatchObject({ code, message: expect.stringMatching(says) as unknown })
    const error = (await failing.catch((thrown: unknown) => thrown)) as AgentprotoError
    expect(JSON.stringify([error.message, error.parts])).not.toContain(TOKEN)
    expect(agent.upgrades).toHaveLength(1)
  })
}

test('a refused secret is named, and how to set it', async () => {
  const agent = await startRemoteAgent()
  agent.refuses = 401
  await expect(connect({ url: agent.url, secrets: ['build-server'] })).rejects.toMatchObject({
    parts: { hint: expect.stringContaining('agentproto secrets set build-server') as unknown },
  })
})

test('a server that is no WebSocket says so', async () => {
  const web = await plainServer('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi')
  await expect(connect({ url: `ws://${web}/` })).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringMatching(/answered 200 and opened no WebSocket/) as unknown,
  })
  const other = await plainServer('220 mail.example.com ESMTP\r\n')
  await expect(connect({ url: `ws://${other}/` })).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringMatching(/is no WebSocket/) as unknown,
  })
  const half = await plainServer(
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  )
  await expect(connect({ url: `ws://${half}/` })).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringMatching(/is no WebSocket/) as unknown,
  })
})

test('a port where nothing listens, a name that is none, and what speaks no TLS are different messages', async () => {
  const agent = await startRemoteAgent()
  const { host } = new URL(agent.url)
  await expect(connect({ url: `wss://${host}/acp` })).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringContaining(`wss://${host}/acp does not speak TLS`) as unknown,
    parts: { hint: expect.stringContaining('ws://') as unknown },
  })
  await agent.stop()
  await expect(connect({ url: agent.url })).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringMatching(/Nothing listens at ws:/) as unknown,
  })
  const unresolved = async (): Promise<never> => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND no.example'), { code: 'ENOTFOUND' })
  }
  await expect(connect({ url: 'wss://no.example/acp', access: unresolved })).rejects.toMatchObject({
    code: 'handshake_failed',
    message: expect.stringMatching(/The name of wss:\/\/no\.example\/acp cannot be resolved/) as unknown,
  })
})

test('the socket goes to the address that was checked, and a refused address is not connected to', async () => {
  const agent = await startRemoteAgent()
  const { port } = new URL(agent.url)
  const asked: string[] = []
  const connection = await connect({
    url: `ws://agent.example:${port}/acp`,
    access: async () => ({
      headers: {},
      lookup: (name, { all }, callback) => {
        asked.push(name)
        process.nextTick(() =>
          all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4),
        )
      },
    }),
  })
  expect(asked).toEqual(['agent.example'])
  expect(agent.upgrades[0]?.headers.host).toBe(`agent.example:${port}`)
  await connection.close()
  const refused = new AgentprotoError('endpoint_not_allowed', 'not there')
  const access = async (): Promise<never> => {
    throw refused
  }
  await expect(connect({ url: agent.url, access })).rejects.toBe(refused)
  expect(agent.upgrades).toHaveLength(1)
})

test('an endpoint that accepts no connection is given up within the limit', async () => {
  const clock = new ManualClock()
  const silent = await plainServer()
  const failing = connect({ url: `ws://${silent}/`, clock, limits: { handshakeMs: 5_000 } })
  const outcome = failing.catch((thrown: unknown) => thrown)
  await expect.poll(() => clock.pending).toBe(1)
  await clock.advance(5_000)
  expect(await outcome).toMatchObject({ code: 'timeout' })
  expect(clock.pending).toBe(0)
})

test('a connect that is cancelled ends at once', async () => {
  const silent = await plainServer()
  const cancelling = new AbortController()
  const failing = connect({ url: `ws://${silent}/`, signal: cancelling.signal })
  setImmediate(() => cancelling.abort())
  await expect(failing).rejects.toMatchObject({ code: 'cancelled' })
  await expect(connect({ url: `ws://${silent}/`, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'cancelled',
  })
})

test('headers are asked for at each connect, and never sent in the URL', async () => {
  let times = 0
  const access = async () => ({ headers: { authorization: `Bearer ${++times}` } })
  const { say, agent } = await open({ numbered: true, access })
  await say('drop-ended')
  expect(agent.upgrades.map(({ headers }) => headers.authorization)).toEqual(['Bearer 1', 'Bearer 2'])
  expect(agent.upgrades.every(({ url }) => url === '/acp')).toBe(true)
})

test('a token that is refused after a reconnect ends the agent: another attempt would not help', async () => {
  const { session, sink, agent, connection } = await open({ numbered: true, secrets: ['build'] })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  agent.refuses = 401
  await agent.drop()
  await sent
  expect(await connection.ended).toMatchObject({
    cause: 'transport',
    duringTurn: true,
    message: expect.stringMatching(/cannot be opened again: .*refuses the credentials/) as unknown,
  })
  expect(agent.upgrades).toHaveLength(2)
  expect(sink.signals.slice(-2)).toMatchObject([
    { type: 'error', data: { kind: 'transport_failure' } },
    { type: 'turn-end', reason: 'error' },
  ])
})

test('a session that the agent does not open again ends the agent', async () => {
  const { session, sink, agent, connection } = await open({ numbered: true })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  agent.forgotten.add('s1')
  await agent.drop()
  await sent
  expect(await connection.ended).toMatchObject({
    cause: 'transport',
    message: expect.stringContaining('there is no such session') as unknown,
  })
})

test('a session that the agent does not open again ends alone where the connection has others', async () => {
  const { say, agent, connection } = await open({ numbered: true })
  const other = new RecordingSink()
  const second = await connection.openSession(opening, other)
  agent.forgotten.add('s2')
  expect(textOf(await say('drop-running'))).toBe('one two three')
  await second.send([{ type: 'text', text: 'echo' }])
  expect(other.signals.slice(-2)).toMatchObject([
    { type: 'error', message: expect.stringContaining('there is no such session') as unknown },
    { type: 'turn-end', reason: 'error' },
  ])
  expect(textOf(await say('echo next'))).toBe('echo next')
})

test('an agent that is not reachable within the limit has ended; attempts come ever more rarely', async () => {
  const clock = new ManualClock()
  const { session, sink, agent, connection } = await open({ numbered: true, clock })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  agent.refuses = 503
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 1)
  const attempts: number[] = []
  for (let second = 0; second < 120; second++) {
    await clock.advance(1_000)
    attempts.push(agent.upgrades.length)
  }
  await sent
  expect(await connection.ended).toMatchObject({
    cause: 'transport',
    duringTurn: true,
    message: expect.stringMatching(/did not come back within 120 s: .*503/) as unknown,
  })
  expect(attempts[9]).toBeGreaterThan(3)
  expect(agent.upgrades.length).toBeGreaterThan(12)
  expect(agent.upgrades.length).toBeLessThan(35)
  expect(clock.pending).toBe(0)
})

test('an endpoint that drops every connection soon is given up as well', async () => {
  const { session, sink, agent, connection } = await open({ numbered: true, limits: { reconnectMs: 1_500 } })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  agent.cutLoads = Number.POSITIVE_INFINITY
  await agent.drop()
  await sent
  expect(await connection.ended).toMatchObject({ cause: 'transport', duringTurn: true })
})

test('binary frames, broken JSON, arrays and numbers do no harm', async () => {
  const { say, sink, connection } = await open({ numbered: true })
  const signals = await say('binary')
  expect(textOf(signals)).toBe('after')
  expect(sink.ofType('notice')).toMatchObject([
    { severity: 'error', text: expect.stringContaining('3 bytes') as unknown },
  ])
  expect(textOf(await say('echo next'))).toBe('echo next')
  await connection.close()
})

test('a message of 100 MB breaks the protocol: the agent has ended, and is not connected to again', async () => {
  const { say, agent, connection } = await open({ numbered: true })
  const signals = await say('huge')
  expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(await connection.ended).toMatchObject({
    cause: 'protocol',
    duringTurn: true,
    message: expect.stringContaining('too large') as unknown,
  })
  expect(agent.upgrades).toHaveLength(1)
})

test('an agent that stops answering pings is lost, and one that is busy is not', async () => {
  const clock = new ManualClock()
  const { session, sink, agent, connection } = await open({
    numbered: true,
    deaf: true,
    clock,
    limits: { reconnectMs: 1 },
  })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  await clock.advance(20_000)
  agent.tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: ' still' } })
  await sink.until(() => sink.text === 'working still')
  await clock.advance(10_000)
  expect(agent.closed).toEqual([])
  await clock.advance(20_000)
  await clock.advance(20_000)
  await clock.advance(10_000)
  await sent
  expect(await connection.ended).toMatchObject({
    cause: 'transport',
    message: expect.stringContaining('did not answer a ping') as unknown,
  })
})

import { expect, test } from 'vitest'
import { settled } from '../../../session-registry/test/fixtures/manual-clock.ts'
import { connect, open, opening } from './connecting-remote.ts'
import { startRemoteAgent } from './fixtures/remote-agent.ts'
import { RecordingSink } from '@agentproto/arm-testing'

test('closing cancels the turn, closes the session, and settles once the connection has ended', async () => {
  const { session, sink, agent, connection } = await open({ numbered: true })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  expect(await connection.close()).toEqual({})
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  expect(agent.closed).toEqual([1000])
  expect(agent.received.map(({ method }) => method).slice(-2)).toEqual(['session/cancel', 'session/close'])
  await expect(session.send([{ type: 'text', text: 'echo' }])).rejects.toMatchObject({ code: 'session_ended' })
})

test('an agent that answers neither the goodbye nor the close is cut off', async () => {
  const { agent, connection } = await open({ numbered: true })
  const ended = new Promise((resolve) => agent.socket?.once('close', resolve))
  agent.stopReading()
  await connection.close()
  expect(agent.closed).toEqual([])
  agent.readAgain()
  await ended
})

test('an agent that cannot close sessions is not asked to', async () => {
  const { agent, connection } = await open({ close: false })
  await Promise.all([connection.close(), connection.close()])
  expect(agent.sent('session/close')).toEqual([])
  expect(agent.closed).toEqual([1000])
})

test('closing while the connection is lost ends the attempts to open it', async () => {
  const { session, sink, agent, connection } = await open({ numbered: true })
  const sent = session.send([{ type: 'text', text: 'hang' }])
  await sink.until(() => sink.text === 'working')
  agent.refuses = 503
  await agent.drop()
  await sink.until(() => sink.ofType('notice').length === 1)
  await connection.close()
  await sent
  const { length } = agent.upgrades
  agent.refuses = undefined
  const first = await Promise.race([
    connection.ended,
    new Promise((resolve) => setTimeout(() => resolve('pending'), 600)),
  ])
  expect(first).toBe('pending')
  expect(agent.upgrades).toHaveLength(length)
})

test('a connection that is lost before its session is open is a failed start', async () => {
  const agent = await startRemoteAgent()
  const connection = await connect({ url: agent.url })
  const lost = agent.drop()
  await expect(connection.openSession(opening, new RecordingSink())).rejects.toMatchObject({ code: 'handshake_failed' })
  await lost
  expect(await connection.ended).toMatchObject({ cause: 'transport', duringTurn: false })
})

test('what belongs to this host is not given to an agent that runs elsewhere', async () => {
  const agent = await startRemoteAgent()
  const connection = await connect({ url: agent.url })
  const session = await connection.openSession(
    {
      ...opening,
      mcpServers: [
        { name: 'program', command: '/bin/tool', args: [], env: [{ name: 'TOKEN', value: 'secret' }] },
        ...['http://127.0.0.1:1/mcp', 'http://localhost:1/mcp', 'http://[::1]:1/mcp'].map((url, at) => ({
          type: 'http' as const,
          name: `own-${at}`,
          url,
          headers: [{ name: 'authorization', value: 'secret' }],
        })),
        { type: 'http', name: 'public', url: 'https://mcp.example/', headers: [] },
      ],
    },
    new RecordingSink(),
  )
  expect(JSON.stringify(agent.received)).not.toContain('secret')
  expect(session.warnings).toHaveLength(5)
})

test('a busy host holds a remote agent up, and loses nothing', async () => {
  const { session, sink, agent } = await open({ numbered: true })
  let release = (): void => {}
  sink.onBatch = () => new Promise((resolve) => (release = resolve))
  const sent = session.send([{ type: 'text', text: 'stream 50000' }])
  await sink.until(() => sink.signals.length > 0)
  // Without back-pressure, all of it would have come by then.
  for (let round = 0; round < 200; round++) await settled()
  expect(agent.buffered).toBeGreaterThan(100_000)
  expect(sink.signals.length).toBeLessThan(20_000)
  sink.onBatch = undefined
  release()
  await sent
  expect(sink.text.endsWith('49999 ')).toBe(true)
  expect(sink.ofType('text-delta')).toHaveLength(50_000)
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { RecordingSink } from '@agentproto/arm-testing'
import { type AgentRequest, systemClock } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { testEndpoint } from '../../../acp-server/test/network/network-client.ts'
import { scripted, type Turn } from '../../../session-registry/test/fixtures/scripted-agent.ts'
import { adapters, memoryRegistry, owner } from '../../../session-registry/test/fixtures/test-registry.ts'
import { connect, opening } from './connecting-remote.ts'

const permission: AgentRequest = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 't1', title: 'Write a.txt', kind: 'edit' },
  options: [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ],
}

/** A gateway with an agent inside the test, and the arm that drives it over the endpoint that it serves. */
async function openGateway() {
  let next: ((turn: Turn) => void) | undefined
  const agents = scripted((turn) => new Promise((resolve) => next?.(endingTurn(turn, resolve))))
  const { registry } = await memoryRegistry(agents)
  const { endpoint } = testEndpoint({ sessions: registry, adapters, clock: systemClock })
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  const server = createServer()
  server.on('upgrade', (request, socket, head) => {
    const upgrade = endpoint.upgrade({ by: owner })
    sockets.handleUpgrade(request, socket, head, (opened) => {
      upgrade.accept(Object.assign(opened, { together: (send: () => void) => send() }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const each of sockets.clients) each.terminate()
    server.close()
    await once(server, 'close')
  })
  const connection = await connect({ url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/acp` })
  const sink = new RecordingSink()
  const session = await connection.openSession(opening, sink)
  const turn = (): Promise<Turn> => new Promise((resolve) => (next = resolve))
  const cut = (): void => {
    for (const each of sockets.clients) each.terminate()
  }
  return { registry, connection, session, sink, turn, cut }
}

/** The prompt is settled with the end of its turn. */
const endingTurn = (turn: Turn, settle: () => void): Turn => ({
  ...turn,
  emit: async (...batch) => {
    await turn.emit(...batch)
    if (batch.some(({ type }) => type === 'turn-end')) settle()
  },
})

type Gateway = Awaited<ReturnType<typeof openGateway>>

async function begin({ session, turn }: Gateway, text = 'work'): Promise<{ sent: Promise<void>; theirs: Turn }> {
  const begun = turn()
  const sent = session.send([{ type: 'text', text }])
  return { sent, theirs: await begun }
}

test('a turn of a gateway goes on over a lost connection, and again over the next one', async () => {
  const gateway = await openGateway()
  const { sink, cut, session } = gateway
  const { sent, theirs } = await begin(gateway)
  await theirs.emit({ type: 'text-delta', text: 'one ' })
  await sink.until(() => sink.text === 'one ')
  cut()
  await theirs.emit({ type: 'text-delta', text: 'two ' }, { type: 'thought', text: 'hm' })
  await sink.until(() => sink.text === 'one two ')
  await sink.until(() => sink.ofType('notice').length === 2)
  cut()
  await theirs.emit({ type: 'text-delta', text: 'three ' })
  await sink.until(() => sink.ofType('notice').length === 4)
  await theirs.emit({ type: 'text-delta', text: 'four' }, { type: 'turn-end', reason: 'end_turn' })
  await sent
  expect(sink.text).toBe('one two three four')
  expect(sink.ofType('thought')).toHaveLength(1)
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
  const second = await begin(gateway, 'more')
  await second.theirs.emit({ type: 'text-delta', text: ' more' }, { type: 'turn-end', reason: 'end_turn' })
  await second.sent
  expect(sink.text).toBe('one two three four more')
  await session.close()
})

const overloaded = { type: 'error', message: 'the model is overloaded' } as const

for (const { reason, before } of [
  { reason: 'end_turn', before: [] },
  { reason: 'max_tokens', before: [] },
  { reason: 'error', before: [overloaded] },
] as const) {
  test(`a turn that ended with ${reason} while the connection was lost ends so`, async () => {
    const gateway = await openGateway()
    const { sink, cut } = gateway
    const { sent, theirs } = await begin(gateway)
    cut()
    await theirs.emit({ type: 'text-delta', text: 'all of it' }, ...before, { type: 'turn-end', reason })
    await sent
    expect(sink.text).toBe('all of it')
    expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason })
    expect(sink.ofType('error')).toMatchObject(before)
  })
}

test('a permission of a gateway is asked once over a lost connection, and its answer arrives', async () => {
  const gateway = await openGateway()
  const { sink, cut } = gateway
  let answer = (): void => {}
  sink.onAsk = () => new Promise((resolve) => (answer = () => resolve({ outcome: 'selected', optionId: 'yes' })))
  const { sent, theirs } = await begin(gateway)
  const asked = theirs.ask(permission)
  await sink.until(() => sink.asked.length === 1)
  cut()
  await sink.until(() => sink.ofType('notice').length === 2)
  answer()
  expect(await asked).toMatchObject({ outcome: 'selected', optionId: 'yes' })
  await theirs.emit({ type: 'turn-end', reason: 'end_turn' })
  await sent
  expect(sink.asked).toHaveLength(1)
})

test('a turn that is cancelled while the connection is lost is cancelled in the gateway', async () => {
  const gateway = await openGateway()
  const { sink, cut, session } = gateway
  const { sent, theirs } = await begin(gateway)
  await theirs.emit({ type: 'text-delta', text: 'working' })
  await sink.until(() => sink.text === 'working')
  cut()
  await sink.until(() => sink.ofType('notice').length === 1)
  await session.cancel()
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  await theirs.cancelled
})

test('closing the connection interrupts the turn in the gateway, and its session stays', async () => {
  const gateway = await openGateway()
  const { sink, connection, session, registry } = gateway
  const { sent, theirs } = await begin(gateway)
  await theirs.emit({ type: 'text-delta', text: 'working' })
  await sink.until(() => sink.text === 'working')
  await connection.close()
  await sent
  await theirs.cancelled
  expect(await registry.get(session.agentSessionId)).toMatchObject({ status: 'running' })
})

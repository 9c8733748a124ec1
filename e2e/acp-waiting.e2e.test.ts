import type { AnyMessage } from '@agentclientprotocol/sdk'
import { expect, test, vi } from 'vitest'
import type { AcpUser } from './support/acp-user.js'
import { NETWORK_WIRES, overNetwork } from './support/acp-wires.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { startRelay } from './support/tcp-relay.js'

// A client whose prompt waits behind the turn of another client loses its connection: the prompt is the session's by then.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBeTruthy(), { timeout: 30_000, interval: 20 })

const EVENTS = { _meta: { agentproto: { events: true } } }

const load = ({ agent }: AcpUser, sessionId: string, cwd: string) =>
  agent.request('session/load', { sessionId, cwd, mcpServers: [] })

const queued = async ({ client }: TestGateway, id: string): Promise<number> =>
  (await client.sessions.get(id)).queuedPrompts ?? 0

/** The numbers of the turns whose end a client was told. */
const endsOf = ({ received }: AcpUser): unknown[] =>
  received.flatMap((message: AnyMessage) =>
    'method' in message && message.method === '_agentproto/turn_ended'
      ? [(message.params as { readonly turn?: number }).turn]
      : [],
  )

/** A turn that runs until its question is answered, and behind it the prompt of a client whose connection is cut. */
async function waitingAndCut(wire: (typeof NETWORK_WIRES)[number]) {
  const gateway = await startGateway()
  const relay = await startRelay(gateway.url)
  const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  await gateway.client.sessions.prompt(id, { prompt: 'ask a.txt first' })
  const asked = await pendingPermission(gateway.client, id)
  const user = await overNetwork(wire, { ...gateway, url: relay.url })
  await load(user, id, gateway.cwd)
  const lost = user.prompt(id, 'from the one who was cut').catch(() => 'gone')
  await until(async () => (await queued(gateway, id)) === 1)
  relay.cut()
  expect(await lost).toBe('gone')
  const comeBack = (): Promise<AcpUser> =>
    vi.waitFor(() => overNetwork(wire, gateway, EVENTS), { timeout: 30_000, interval: 20 })
  const answer = () => gateway.client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  return { gateway, id, comeBack, answer }
}

const said = 'echo: from the one who was cut'

test.each(NETWORK_WIRES)(
  'F1 F21 over %s, a prompt waits behind another client’s turn when its own client is cut: it runs once in its turn, and the client finds it',
  async (wire) => {
    const { gateway, id, comeBack, answer } = await waitingAndCut(wire)
    expect(await queued(gateway, id)).toBe(1)
    await answer()
    expect((await gateway.client.sessions.waitTurn(id, 2)).reason).toBe('end_turn')
    const user = await comeBack()
    await load(user, id, gateway.cwd)
    expect(user.said('user_message_chunk')).toBe('ask a.txt firstfrom the one who was cut')
    expect(user.said().split(said)).toHaveLength(2)
    expect((await gateway.client.sessions.get(id)).turnCount).toBe(2)
  },
)

test.each(NETWORK_WIRES)(
  'F1 F21 over %s, a client that was cut while its prompt waited is back before its turn: it is shown that turn, and its end',
  async (wire) => {
    const { gateway, id, comeBack, answer } = await waitingAndCut(wire)
    const user = await comeBack()
    await load(user, id, gateway.cwd)
    expect(user.said('user_message_chunk')).toBe('ask a.txt first')
    await answer()
    await until(() => endsOf(user).length === 2)
    expect(endsOf(user)).toEqual([1, 2])
    expect(user.said().split(said)).toHaveLength(2)
    expect(user.said('user_message_chunk')).toBe('ask a.txt firstfrom the one who was cut')
  },
)

test.each(NETWORK_WIRES)(
  'F18 over %s, a client that was cut while its prompt waited withdraws it when it is back: a cancel ends what runs and what waits',
  async (wire) => {
    const { gateway, id, comeBack } = await waitingAndCut(wire)
    const user = await comeBack()
    await load(user, id, gateway.cwd)
    await user.agent.notify('session/cancel', { sessionId: id })
    await until(async () => (await gateway.client.sessions.get(id)).turn.state === 'idle')
    expect(await queued(gateway, id)).toBe(0)
    await gateway.client.sessions.promptAndWait(id, { prompt: 'next' })
    await until(() => user.said().includes('echo: next'))
    expect(user.said()).not.toContain(said)
  },
)

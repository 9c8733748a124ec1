import type { AnyMessage } from '@agentclientprotocol/sdk'
import { isRecord } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { AcpUser } from './support/acp-user.js'
import { NETWORK_WIRES, overNetwork } from './support/acp-wires.js'
import { startEditor } from './support/editor.js'
import { startGateway } from './support/gateway.js'
import { startKeeping } from './support/kept-agents.js'
import { startRelay } from './support/tcp-relay.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The two network clients of the SDK against `/acp` of a gateway, with connections that are cut.

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition()).toBeTruthy(), { timeout: 30_000, interval: 20 })

const open = async ({ agent }: Pick<AcpUser, 'agent'>, cwd: string): Promise<string> =>
  (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId

const load = ({ agent }: Pick<AcpUser, 'agent'>, sessionId: string, cwd: string, after?: number) => {
  const meta = after === undefined ? {} : { _meta: { agentproto: { after } } }
  return agent.request('session/load', { sessionId, cwd, mcpServers: [], ...meta })
}

/** Connects as often as it takes: a pool of connections may not have noticed yet that all of it were cut. */
const comeBack = (...connecting: Parameters<typeof overNetwork>): Promise<AcpUser> =>
  vi.waitFor(() => overNetwork(...connecting), { timeout: 30_000, interval: 20 })

const allow = { outcome: { outcome: 'selected', optionId: 'allow' } } as const

const chunks = (count: number): string => Array.from({ length: count }, (_, at) => `chunk ${at + 1}\n`).join('')

/** The extension: each update has the number of its event. */
const EVENTS = { _meta: { agentproto: { events: true } } }

const numbersOf = ({ updates }: Pick<AcpUser, 'updates'>): number[] =>
  updates.flatMap(({ _meta: meta }) => {
    const ours = meta?.['agentproto']
    return isRecord(ours) && typeof ours['seq'] === 'number' ? [ours['seq']] : []
  })

const endsOf = ({ received }: Pick<AcpUser, 'received'>): unknown[] =>
  received.flatMap((message: AnyMessage) =>
    'method' in message && message.method === '_agentproto/turn_ended' ? [message.params] : [],
  )

const stopped = async ({ sessions }: Client, id: string, turn: number): Promise<string | undefined> =>
  (await sessions.waitTurn(id, turn)).reason

test.each(NETWORK_WIRES)('two turns, a permission and a cancel over %s', async (wire) => {
  const gateway = await startGateway()
  const user = await overNetwork(wire, gateway)
  const id = await open(user, gateway.cwd)
  expect(await user.prompt(id, 'hello')).toEqual({ stopReason: 'end_turn' })
  const asking = user.prompt(id, 'ask a.txt yes')
  await until(() => user.dialogs.length === 1)
  expect(existsSync(join(gateway.cwd, 'a.txt'))).toBe(false)
  user.dialogs[0]?.answer(allow)
  expect(await asking).toEqual({ stopReason: 'end_turn' })
  expect(readFileSync(join(gateway.cwd, 'a.txt'), 'utf8')).toBe('yes\n')
  const hanging = user.prompt(id, 'stream 1; hang')
  await until(() => user.said().includes('chunk 1'))
  await user.agent.notify('session/cancel', { sessionId: id })
  expect(await hanging).toEqual({ stopReason: 'cancelled' })
  expect(await user.prompt(id, 'recall')).toEqual({ stopReason: 'end_turn' })
  expect(user.said()).toContain('1: hello')
})

test('clients on three wires in one session see the prompts of each other, and the first answer counts', async () => {
  const gateway = await startGateway()
  const one = await overNetwork('websocket', gateway)
  const id = await open(one, gateway.cwd)
  await one.prompt(id, 'first')
  const two = await overNetwork('http', gateway)
  const three = await startEditor({ AGENTPROTO_URL: gateway.url, AGENTPROTO_TOKEN: gateway.token })
  const all = [one, two, three] as const
  for (const user of [two, three]) await load(user, id, gateway.cwd)
  const asking = one.prompt(id, 'ask a.txt by-two')
  await until(() => all.every(({ dialogs }) => dialogs.length === 1))
  two.dialogs[0]?.answer(allow)
  expect(await asking).toEqual({ stopReason: 'end_turn' })
  await until(() => [one, three].every(({ dialogs }) => dialogs[0]?.taken()))
  expect(readFileSync(join(gateway.cwd, 'a.txt'), 'utf8')).toBe('by-two\n')
  await two.prompt(id, 'second')
  for (const user of all) await until(() => user.said().endsWith('echo: second'))
  expect(all.map((user) => user.said('user_message_chunk'))).toEqual([
    'second',
    'firstask a.txt by-two',
    'firstask a.txt by-twosecond',
  ])
})

test.each(NETWORK_WIRES)(
  'F1 a connection over %s that is cut in mid-turn: the client comes back, loads, and has all of it and the pending question',
  async (wire) => {
    const gateway = await startGateway()
    const relay = await startRelay(gateway.url)
    const place = { ...gateway, url: relay.url }
    const one = await overNetwork(wire, place)
    const id = await open(one, gateway.cwd)
    const lost = one.prompt(id, 'stream 300 5; ask a.txt late').catch(() => 'gone')
    await until(() => one.said().includes('chunk 20\n'))
    relay.cut()
    expect(await lost).toBe('gone')
    const two = await comeBack(wire, place)
    await load(two, id, gateway.cwd)
    await until(() => two.dialogs.length === 1)
    expect(two.said()).toBe(chunks(300))
    relay.cut()
    const three = await comeBack(wire, place)
    await load(three, id, gateway.cwd)
    await until(() => three.dialogs.length === 1)
    three.dialogs[0]?.answer(allow)
    expect(await stopped(gateway.client, id, 1)).toBe('end_turn')
    await until(() => three.said().includes('I was allowed'))
    expect(three.said().startsWith(chunks(300))).toBe(true)
    expect(three.dialogs).toHaveLength(1)
  },
)

test.each(NETWORK_WIRES)(
  'F1 over %s, a client that asks for the numbers of events continues where it was cut: nothing missing, nothing twice, and the turn’s end',
  async (wire) => {
    const gateway = await startGateway()
    const relay = await startRelay(gateway.url)
    const place = { ...gateway, url: relay.url }
    const one = await overNetwork(wire, place, EVENTS)
    const users = [one]
    const id = await open(one, gateway.cwd)
    const lost = one.prompt(id, 'stream 400 5; ask a.txt late').catch(() => 'gone')
    const said = (): string => users.map((user) => user.said()).join('')
    for (const seen of ['chunk 20\n', 'chunk 150\n', 'chunk 270\n']) {
      await until(() => said().includes(seen))
      relay.cut()
      // What was on its way has come by then.
      await users.at(-1)?.closed
      const after = Math.max(...users.flatMap(numbersOf))
      const next = await comeBack(wire, place, EVENTS)
      users.push(next)
      const loaded = await load(next, id, gateway.cwd, after)
      expect(loaded).toMatchObject({ _meta: { agentproto: { turn: { number: 1 } } } })
    }
    expect(await lost).toBe('gone')
    const last = users.at(-1) ?? one
    await until(() => last.dialogs.length === 1)
    expect(said()).toBe(chunks(400))
    expect(users.map(endsOf)).toEqual([[], [], [], []])
    last.dialogs[0]?.answer(allow)
    await until(() => endsOf(last).length === 1)
    expect(endsOf(last)).toMatchObject([{ sessionId: id, turn: 1, stopReason: 'end_turn' }])
    const numbers = users.flatMap(numbersOf)
    expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
    // What it prompts itself, it is answered.
    expect(await last.prompt(id, 'fail on purpose').catch(({ message }) => message)).toContain('on purpose')
    expect(endsOf(last)).toHaveLength(1)
  },
)

test.each(NETWORK_WIRES)(
  'F1 a gateway that is killed with -9 in mid-turn and back: the turn goes on, and a client over %s has all of it',
  async (wire) => {
    const { home, first, next } = await startKeeping('acp-network')
    const one = await overNetwork(wire, first, EVENTS)
    const id = await open(one, home)
    const lost = one.prompt(id, 'stream 300 10; ask a.txt late').catch(() => 'gone')
    await until(() => one.said().includes('chunk 20\n'))
    await first.crash()
    expect(await lost).toBe('gone')
    const second = await next()
    const two = await comeBack(wire, second, EVENTS)
    await load(two, id, home, Math.max(...numbersOf(one)))
    await until(() => two.dialogs.length === 1)
    expect(one.said() + two.said()).toBe(chunks(300))
    const plain = await overNetwork(wire, second)
    await load(plain, id, home)
    await until(() => plain.dialogs.length === 1)
    expect(plain.said()).toBe(chunks(300))
    plain.dialogs[0]?.answer(allow)
    await until(() => endsOf(two).length === 1)
    expect(endsOf(two)).toMatchObject([{ sessionId: id, turn: 1, stopReason: 'end_turn' }])
    expect(readFileSync(join(home, 'a.txt'), 'utf8')).toBe('late\n')
    expect(two.dialogs[0]?.taken()).toBe(true)
  },
)

test.each(NETWORK_WIRES)('a token over %s may do what its scope and its bounds say, and nothing else', async (wire) => {
  const gateway = await startGateway()
  const { client, url } = gateway
  const other = temporaryFolder('other')
  await client.workspaces.add({ path: gateway.cwd, slug: 'shop' })
  await client.workspaces.add({ path: other, slug: 'other' })
  const owner = await overNetwork(wire, gateway)
  const shop = await open(owner, gateway.cwd)
  const foreign = await open(owner, other)
  const tokenOf = async (name: string, scope: 'read' | 'operate'): Promise<string> =>
    (await client.tokens.create({ name, scope, workspaces: ['shop'] })).token

  const reader = await overNetwork(wire, { url, token: await tokenOf('reader', 'read') })
  await load(reader, shop, gateway.cwd)
  const asking = owner.prompt(shop, 'ask a.txt by-owner')
  await until(() => owner.dialogs.length === 1)
  // It sees the question, and is not asked.
  await until(() => reader.said('agent_thought_chunk').includes('sessions answer'))
  expect(reader.dialogs).toEqual([])
  for (const [method, params] of [
    ['session/new', { cwd: gateway.cwd, mcpServers: [] }],
    ['session/prompt', { sessionId: shop, prompt: [{ type: 'text', text: 'no' }] }],
    ['session/set_mode', { sessionId: shop, modeId: 'plan' }],
    ['session/set_config_option', { sessionId: shop, configId: 'model', value: 'demo-2' }],
    ['session/fork', { sessionId: shop, cwd: gateway.cwd }],
    ['session/delete', { sessionId: shop }],
  ] as const) {
    const refused = reader.agent.request<unknown, object>(method, params)
    await expect(refused, method).rejects.toMatchObject({ data: { code: 'forbidden' } })
  }
  await reader.agent.notify('session/cancel', { sessionId: shop })
  await reader.agent.request('session/list', {})
  expect((await client.sessions.get(shop)).turn).toMatchObject({ number: 1, state: 'awaiting-input' })
  owner.dialogs[0]?.answer(allow)
  expect(await asking).toEqual({ stopReason: 'end_turn' })

  const bounded = await overNetwork(wire, { url, token: await tokenOf('bounded', 'operate') })
  expect((await bounded.agent.request('session/list', {})).sessions.map(({ sessionId }) => sessionId)).toEqual([shop])
  for (const id of [foreign, 'unknown']) {
    await expect(load(bounded, id, other)).rejects.toMatchObject({ code: -32002, data: { code: 'session_not_found' } })
    await expect(bounded.prompt(id, 'no')).rejects.toMatchObject({ code: -32002 })
    // Deleting what does not exist is no error in ACP, and does nothing.
    await bounded.agent.request('session/delete', { sessionId: id })
  }
  expect((await client.sessions.get(foreign)).status).toBe('running')
  await expect(open(bounded, other)).rejects.toMatchObject({ data: { code: 'cwd_not_allowed' } })
  const own = await open(bounded, gateway.cwd)
  expect(await bounded.prompt(own, 'hello')).toEqual({ stopReason: 'end_turn' })

  // The connection ends with the token, and nothing else does.
  const hanging = bounded.prompt(own, 'stream 1; hang').catch(() => 'gone')
  await until(() => bounded.said().includes('chunk 1'))
  await client.tokens.revoke('bounded')
  expect(await hanging).toBe('gone')
  await bounded.closed
  expect((await client.sessions.get(own)).turn).toMatchObject({ number: 2, state: 'busy' })
  expect(await owner.prompt(shop, 'still here')).toEqual({ stopReason: 'end_turn' })
})

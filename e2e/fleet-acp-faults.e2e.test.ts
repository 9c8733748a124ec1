import type { AnyMessage } from '@agentclientprotocol/sdk'
import type { SessionEvent } from '@agentproto/client'
import { isRecord } from '@agentproto/contracts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { needs } from '../tooling/needs.ts'
import type { AcpUser, Dialog } from './support/acp-user.js'
import { NETWORK_WIRES, type NetworkWire, overNetwork, type Place } from './support/acp-wires.js'
import { type Fleet, startFleet } from './support/fleet.js'
import { allEvents, ofType, textIn } from './support/kept-agents.js'
import { startRelay } from './support/tcp-relay.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A client of ACP at host `two` drives a session of host `one`, while connections are cut and hosts are killed or frozen.

const PATIENT = { timeout: 60_000, interval: 20 }
const LEASE_MS = 3_000
const NUMBERED = { session: { notices: {} }, _meta: { agentproto: { events: true } } }
const ALLOW = { outcome: { outcome: 'selected', optionId: 'allow' } }
const REJECT = { outcome: { outcome: 'selected', optionId: 'reject' } }

const until = (condition: () => unknown): Promise<void> =>
  vi.waitFor(async () => expect(await condition(), condition.toString()).toBeTruthy(), PATIENT)

const chunks = (count: number): string => Array.from({ length: count }, (_, at) => `chunk ${at + 1}\n`).join('')

test.each(NETWORK_WIRES)(
  '17.4 a client over %s is cut in mid-turn, and the host of its session is killed with -9 while it is away: it has every event once, the question once, and one end',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, comeBack, id, cut, users } = await streaming(wire, { keeper: true })
    await cut()
    await owner.crash()
    const away = await comeBack()
    await until(() => noticesOf(away).some((notice) => notice.startsWith('warning: The host one')))
    const { client } = await users.fleet.nextOwner()
    await until(() => away.dialogs.length === 1)
    expect(users.said()).toBe(chunks(300))
    // Cut once more, with the question open.
    await cut()
    const last = await comeBack()
    await until(() => last.dialogs.length === 1)
    expect(requestIdOf(last)).toBe(requestIdOf(away))
    last.dialogs[0]?.answer(ALLOW)
    await until(() => users.ends().length > 0)
    expect(users.ends()).toMatchObject([{ sessionId: id, turn: 1, stopReason: 'end_turn' }])
    expect(await last.prompt(id, 'recall')).toMatchObject({ stopReason: 'end_turn' })
    await expectEachOnce(users, await allEvents(client, id))
    expect(last.dialogs).toHaveLength(1)
  },
)

test.each(NETWORK_WIRES)(
  '17.4 a client over %s is cut in mid-turn, and the host is killed with its agents: the client is told the end of the turn, once, and the session goes on',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, comeBack, id, cut, users } = await streaming(wire, { keeper: false })
    await cut()
    await owner.crash()
    const away = await comeBack()
    const { client } = await users.fleet.nextOwner()
    await until(() => users.ends().length > 0)
    expect(users.ends()).toMatchObject([
      { sessionId: id, turn: 1, error: { message: 'The gateway ended while the session was active' } },
    ])
    expect(await away.prompt(id, 'hello')).toMatchObject({ stopReason: 'end_turn' })
    const events = await allEvents(client, id)
    await expectEachOnce(users, events)
    expect(ofType(events, 'turn-end').map(({ reason }) => reason)).toEqual(['error', 'end_turn'])
    expect(users.ends()).toHaveLength(1)
  },
)

test.each(NETWORK_WIRES)(
  '17.4 a question is open when the host is killed with its agents: a client over %s is told that nobody waits for its answer',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, comeBack, id, cut, users } = await streaming(wire, { keeper: false, words: 'ask a.txt late' })
    await cut()
    await owner.crash()
    const away = await comeBack()
    const { client } = await users.fleet.nextOwner()
    await until(() => users.ends().length > 0)
    await until(() => away.dialogs.every((dialog) => dialog.taken()))
    expect(users.ends()).toMatchObject([{ turn: 1, error: { data: { reason: 'error' } } }])
    await expectEachOnce(users, await allEvents(client, id))
    // None, if the host was killed before it had published the question.
    expect(away.dialogs.length).toBeLessThan(2)
  },
)

test.each(NETWORK_WIRES)(
  '17.4 a question is open when the host is killed: a client over %s is asked once on each connection, and the answer counts once',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, comeBack, id, cut, users } = await streaming(wire, { keeper: true, words: 'ask a.txt late' })
    const asked = requestIdOf(users.last())
    await cut()
    await owner.crash()
    const away = await comeBack()
    const { client } = await users.fleet.nextOwner()
    // The host may have been killed before it had published the question.
    await until(() => away.dialogs.length === 1)
    await until(() => noticesOf(away).some((notice) => notice.startsWith('info: The session goes on')))
    expect(requestIdOf(away)).toBe(asked)
    away.dialogs[0]?.answer(ALLOW)
    await until(() => users.ends().length > 0)
    expect(users.ends()).toMatchObject([{ turn: 1, stopReason: 'end_turn' }])
    const events = await allEvents(client, id)
    await expectEachOnce(users, events)
    expect(away.dialogs).toHaveLength(1)
    expect(ofType(events, 'agent-prompt-resolved')).toHaveLength(1)
  },
)

test.each(NETWORK_WIRES)(
  '17.4 the host is frozen beyond its lease and back: a client over %s has every event once, and what it was refused meanwhile did not run',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, comeBack, id, cut, users, lost } = await streaming(wire, { keeper: true })
    process.kill(owner.pid, 'SIGSTOP')
    try {
      const first = users.last()
      await until(() => noticesOf(first).some((notice) => notice.startsWith('warning: The host one')))
      expect(await lost).toMatchObject({ data: { code: 'host_unreachable' } })
      const refused = await first.prompt(id, 'while frozen').catch((thrown: unknown) => thrown)
      expect(refused).toMatchObject({ data: { code: 'host_unreachable', retryAfter: 5 } })
      await cut()
      await comeBack()
    } finally {
      process.kill(owner.pid, 'SIGCONT')
    }
    const back = users.last()
    await until(() => back.dialogs.length === 1)
    back.dialogs[0]?.answer(ALLOW)
    await until(() => users.ends().length > 0)
    expect(users.ends()).toMatchObject([{ sessionId: id, turn: 1, stopReason: 'end_turn' }])
    expect(await back.prompt(id, 'hello')).toMatchObject({ stopReason: 'end_turn' })
    const events = await allEvents(owner.client, id)
    await expectEachOnce(users, events)
    expect(promptsIn(events)).toEqual(['stream 300 10; ask a.txt late', 'hello'])
  },
)

test.each(NETWORK_WIRES)(
  '17.4 host two is killed while it forwards a prompt: over %s the prompt runs at most once, and the client has what ran',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, comeBack, id, users, toNextOther } = await streaming(wire, { keeper: true, words: 'hello' })
    let { other } = users.fleet
    const killed = async (words: string): Promise<void> => {
      const user = users.last()
      const forwarded = user.prompt(id, words).catch(() => 'gone')
      // The prompt is on its way to host one when what was sent after it is answered.
      await user.agent.request('session/list', {})
      await other.crash()
      await forwarded
      other = await toNextOther()
    }
    process.kill(owner.pid, 'SIGSTOP')
    await killed('first').finally(() => process.kill(owner.pid, 'SIGCONT'))
    await comeBack()
    await killed('second')
    expect(await (await comeBack()).prompt(id, 'last')).toMatchObject({ stopReason: 'end_turn' })
    const events = await allEvents(owner.client, id)
    const prompts = promptsIn(events)
    expect(prompts).toEqual([...new Set(prompts)])
    expect(ofType(events, 'turn-end').map(({ reason }) => reason)).toEqual(prompts.map(() => 'end_turn'))
    await expectEachOnce(users, events)
  },
)

test.each(NETWORK_WIRES)(
  '17.2 clients of both hosts answer the same permission at once over %s: one answer counts, and the other client is told',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, other } = await startFleet()
    const cwd = temporaryFolder('work')
    const [here, there] = [await overNetwork(wire, owner, NUMBERED), await overNetwork(wire, other, NUMBERED)]
    const id = await open(here, cwd)
    await there.agent.request('session/load', { sessionId: id, cwd, mcpServers: [] })
    const lost: AcpUser[] = []
    for (let round = 1; round <= 10; round++) {
      const turn = here.prompt(id, `ask ${round}.txt yes`)
      await until(() => [here, there].every(({ dialogs }) => dialogs.length === round))
      // Host one hears the answer that is given there sooner: the other one is given first.
      const [one, two] = round % 2 === 0 ? [here, there] : [there, here]
      one.dialogs[round - 1]?.answer(ALLOW)
      two.dialogs[round - 1]?.answer(REJECT)
      expect(await turn).toMatchObject({ stopReason: 'end_turn' })
      await until(() => endsOf(there).length === round)
      const resolved = ofType(await allEvents(owner.client, id), 'agent-prompt-resolved')
      expect(resolved).toHaveLength(round)
      const isAllowed = JSON.stringify(resolved.at(-1)?.answer).includes('"allow"')
      expect(existsSync(join(cwd, `${round}.txt`))).toBe(isAllowed)
      lost.push(isAllowed ? two : one)
      await until(() => [here, there].every((user) => toldOf(user) === lost.filter((each) => each === user).length))
    }
  },
)

/** How often it was told that its answer does not count: the question was taken back, or it is said. */
const toldOf = (user: AcpUser): number =>
  user.received.filter((message) => 'method' in message && message.method === '$/cancel_request').length +
  noticesOf(user).filter((notice) => notice.startsWith('warning: Your answer does not count')).length

/** A client of host `two`, as often as it connects, and what it was sent over all its connections. */
interface Users {
  readonly fleet: Fleet
  readonly last: () => AcpUser
  readonly said: () => string
  readonly ends: () => unknown[]
  readonly numbers: () => number[]
}

interface StreamingOptions {
  readonly keeper: boolean
  readonly words?: string
}

/** A client in a turn of a session of host `one`. */
async function streaming(wire: NetworkWire, { keeper, words = 'stream 300 10; ask a.txt late' }: StreamingOptions) {
  const fleet = await startFleet({ leaseMs: LEASE_MS, keeper })
  const { owner, other } = fleet
  const relay = await startRelay(other.url)
  const place: Place = { token: other.token, url: relay.url }
  const cwd = temporaryFolder('work')
  const connections = [await overNetwork(wire, place, NUMBERED)]
  const last = (): AcpUser => connections.at(-1) as AcpUser
  const users: Users = {
    fleet,
    last,
    said: () => connections.map((user) => user.said()).join(''),
    ends: () => connections.flatMap(endsOf),
    numbers: () => connections.flatMap(numbersOf),
  }
  const id = await open(last(), cwd)
  const lost = last()
    .prompt(id, words)
    .catch((thrown: unknown) => thrown)
  if (words.startsWith('stream')) await until(() => users.said().includes('chunk 20\n'))
  else if (words.startsWith('ask')) await until(() => last().dialogs.length === 1)
  else await lost
  return {
    owner,
    id,
    users,
    lost,
    async toNextOther() {
      const next = await fleet.nextOther()
      relay.to(next.url)
      return next
    },
    async cut() {
      relay.cut()
      // What was on its way has come by then.
      await last().closed
    },
    async comeBack() {
      const after = Math.max(...users.numbers())
      // A pool of connections may not have noticed yet that all of it were cut.
      const user = await vi.waitFor(() => overNetwork(wire, place, NUMBERED), PATIENT)
      connections.push(user)
      await user.agent.request('session/load', { sessionId: id, cwd, mcpServers: [], _meta: { agentproto: { after } } })
      return user
    },
  }
}

const open = async ({ agent }: AcpUser, cwd: string): Promise<string> => {
  const on = { _meta: { agentproto: { on: 'one' } } }
  return (await agent.request('session/new', { cwd, mcpServers: [], ...on })).sessionId
}

/** What the client has of the log, over all its connections: all text, and no number twice or out of its order. */
async function expectEachOnce(users: Users, events: readonly SessionEvent[]): Promise<void> {
  await until(() => users.said().length >= textIn(events).length)
  expect(users.said()).toBe(textIn(events))
  const numbers = users.numbers()
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b))
}

const oursOf = (meta: unknown): Record<string, unknown> => {
  const ours = isRecord(meta) ? meta['agentproto'] : undefined
  return isRecord(ours) ? ours : {}
}

const numbersOf = ({ updates }: AcpUser): number[] =>
  updates.flatMap(({ _meta: meta }) => {
    const { seq } = oursOf(meta)
    return typeof seq === 'number' ? [seq] : []
  })

const endsOf = ({ received }: AcpUser): unknown[] =>
  received.flatMap((message: AnyMessage) =>
    'method' in message && message.method === '_agentproto/turn_ended' ? [message.params] : [],
  )

const requestIdOf = ({ dialogs }: { readonly dialogs: readonly Dialog[] }): unknown =>
  oursOf(dialogs.at(-1)?.params['_meta'])['requestId']

const noticesOf = ({ updates }: AcpUser): string[] =>
  updates.flatMap(({ update }) => (update.sessionUpdate === 'notice' ? [`${update.severity}: ${update.title}`] : []))

const promptsIn = (events: readonly SessionEvent[]): string[] =>
  ofType(events, 'user-prompt').map(({ content }) =>
    content.map((block) => ('text' in block ? block.text : '')).join(''),
  )

import type { AcpMethod } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { type Recording, runScript } from './support/acp-script.js'
import { NETWORK_WIRES, type NetworkWire, overNetwork } from './support/acp-wires.js'
import type { AcpUser } from './support/acp-user.js'
import { curl } from './support/curl.js'
import type { Daemon } from './support/daemon.js'
import { startFleet } from './support/fleet.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A client of ACP at host `two` drives the sessions of host `one` as one that is connected to that host.

const PATIENT = { timeout: 40_000 }

test.each(NETWORK_WIRES)(
  '17.2 the same script has the same answers and the same updates at another host over %s',
  { ...needs('nats-server', 'curl'), timeout: 120_000 },
  async (wire) => {
    const { owner, other } = await startFleet()
    const recorded = async (at: Daemon): Promise<Recording> => {
      const beforeList = async (): Promise<void> =>
        expect.poll(() => listed(other), PATIENT).toEqual(await listed(owner))
      const script = { meta: { on: 'one' }, beforeList }
      const recording = await runScript(() => overNetwork(wire, at), temporaryFolder('work'), script)
      for (const { id } of (await owner.client.sessions.list()).sessions) await owner.client.sessions.remove(id)
      await beforeList()
      return recording
    }
    const atOwner = await recorded(owner)
    expect(await recorded(other)).toEqual(atOwner)
    expect(JSON.stringify(atOwner)).toContain('echo: of the second client')
  },
)

/** At another host than that of the sessions it is what the directory has. */
const listed = async ({ url, token }: Daemon): Promise<string> =>
  (await curl(`${url}/sessions?host=one`, { token })).text

/** A client at host `two`, and sessions of host `one` that it has open. */
interface World {
  readonly user: AcpUser
  readonly connect: () => Promise<AcpUser>
  readonly cwd: string
  readonly idle: string
  /** It is in a turn of this client. */
  readonly busy: string
  /** Its turn is cancelled as a request. */
  readonly cancelled: string
  /** It waits for a permission, or for an answer. */
  readonly asking: string
  readonly questioning: string
  /** Cancels the request whose turn `cancelled` is in. */
  readonly abort: () => void
}

/** What a call is while the host of its session is away. */
type Away = 'answered' | 'host_unreachable' | 'unknown' | 'told' | 'asked again'

interface Call {
  /** While the host is away. */
  readonly is: Away
  /** Of a method that is an answer of the client: what it does. */
  readonly call: (world: World) => Promise<unknown>
}

const opening = ({ cwd }: Pick<World, 'cwd'>, sessionId: string) => ({ sessionId, cwd, mcpServers: [] })
const asks =
  (method: string, paramsOf: (world: World) => object): Call['call'] =>
  (world) =>
    world.user.agent.request<unknown, object>(method, paramsOf(world))
const answers = ({ user }: World, id: string, result: object): void =>
  user.dialogs.findLast(({ params }) => params['sessionId'] === id)?.answer(result)

const ALLOWED = { outcome: { outcome: 'selected', optionId: 'allow' } }
const ACCEPTED = { action: 'accept', content: { answer: 'yes' } }
const PROMPT = [{ type: 'text', text: 'hello' }]

/** A method of the table without a row here does not compile. The turns of `busy` and `cancelled` began before. */
const CALLS: Readonly<Record<AcpMethod, Call>> = {
  initialize: { is: 'answered', call: async ({ connect }) => (await connect()).initialized },
  authenticate: { is: 'unknown', call: asks('authenticate', () => ({ methodId: 'none' })) },
  logout: { is: 'unknown', call: asks('logout', () => ({})) },
  '$/cancel_request': { is: 'told', call: async ({ abort }) => abort() },
  'session/list': { is: 'answered', call: asks('session/list', ({ cwd }) => ({ cwd })) },
  'session/load': { is: 'answered', call: asks('session/load', (world) => opening(world, world.idle)) },
  'session/resume': { is: 'answered', call: asks('session/resume', (world) => opening(world, world.idle)) },
  'session/new': {
    is: 'host_unreachable',
    call: asks('session/new', ({ cwd }) => ({ cwd, mcpServers: [], _meta: { agentproto: { on: 'one' } } })),
  },
  'session/prompt': {
    is: 'host_unreachable',
    call: asks('session/prompt', ({ idle }) => ({ sessionId: idle, prompt: PROMPT })),
  },
  'session/cancel': {
    is: 'told',
    call: ({ user, busy }) => user.agent.notify('session/cancel', { sessionId: busy }),
  },
  'session/fork': { is: 'host_unreachable', call: asks('session/fork', ({ idle, cwd }) => ({ sessionId: idle, cwd })) },
  'session/set_mode': {
    is: 'host_unreachable',
    call: asks('session/set_mode', ({ idle }) => ({ sessionId: idle, modeId: 'plan' })),
  },
  'session/set_model': {
    is: 'unknown',
    call: asks('session/set_model', ({ idle }) => ({ sessionId: idle, modelId: 'demo-2' })),
  },
  'session/set_config_option': {
    is: 'host_unreachable',
    call: asks('session/set_config_option', ({ idle }) => ({ sessionId: idle, configId: 'model', value: 'demo-2' })),
  },
  'session/delete': { is: 'host_unreachable', call: asks('session/delete', ({ idle }) => ({ sessionId: idle })) },
  'session/request_permission': {
    is: 'asked again',
    call: async (world) => answers(world, world.asking, ALLOWED),
  },
  'elicitation/create': {
    is: 'asked again',
    call: async (world) => answers(world, world.questioning, ACCEPTED),
  },
  // Last: it is not open any more then.
  'session/close': { is: 'answered', call: asks('session/close', ({ busy }) => ({ sessionId: busy })) },
}

const NO_SESSION = { sessionId: 's_000000000000000' }
const NO_TEXT = { sessionId: 7 }
const ON_ONE = { _meta: { agentproto: { on: 'one' } } }

/**
 * Parameters that are refused, by method: those of no session, of the wrong type, and of what the state forbids. A method whose
 * refusal a client does not see says why.
 */
const REFUSED: Readonly<Record<AcpMethod, string | ((world: World) => readonly object[])>> = {
  initialize: () => [{ protocolVersion: 1 }, { protocolVersion: 'one' }],
  authenticate: () => [{}, { methodId: 7 }],
  logout: () => [{ sessionId: 7 }],
  '$/cancel_request': 'a notification has no answer',
  'session/cancel': 'a notification has no answer',
  'session/list': () => [{ cursor: 'no cursor' }, { cwd: 7 }],
  'session/load': ({ cwd, idle }) => [
    opening({ cwd }, NO_SESSION.sessionId),
    { cwd, mcpServers: [], ...NO_TEXT },
    { ...opening({ cwd }, idle), _meta: { agentproto: { after: -1 } } },
  ],
  'session/resume': ({ cwd }) => [opening({ cwd }, NO_SESSION.sessionId), { cwd, mcpServers: [], ...NO_TEXT }],
  'session/close': () => [NO_SESSION, NO_TEXT],
  'session/new': ({ cwd }) => [
    { cwd: 'relative', mcpServers: [], ...ON_ONE },
    { cwd: `${cwd}/nowhere`, mcpServers: [], ...ON_ONE },
    { cwd, mcpServers: [], _meta: { agentproto: { on: 'nowhere' } } },
    { cwd, mcpServers: [], _meta: { agentproto: { on: 'one', mode: 'unknown' } } },
    { mcpServers: [] },
  ],
  'session/prompt': ({ idle }) => [
    { ...NO_SESSION, prompt: PROMPT },
    { sessionId: idle, prompt: 'no blocks' },
    { sessionId: idle, prompt: [] },
  ],
  'session/fork': ({ cwd, asking }) => [
    { ...NO_SESSION, cwd },
    { ...NO_TEXT, cwd },
    { sessionId: asking, cwd },
  ],
  'session/set_mode': ({ idle }) => [
    { ...NO_SESSION, modeId: 'plan' },
    { sessionId: idle, modeId: 'unknown' },
  ],
  'session/set_model': ({ idle }) => [{ sessionId: idle, modelId: 'unknown' }],
  'session/set_config_option': ({ idle }) => [
    { ...NO_SESSION, configId: 'model', value: 'demo-2' },
    { sessionId: idle, configId: 'unknown', value: 'x' },
    { sessionId: idle, configId: 'model', value: 'unknown' },
    { sessionId: idle, configId: 'model', value: 7 },
  ],
  'session/delete': () => [NO_SESSION, NO_TEXT],
  'session/request_permission': 'the gateway asks it',
  'elicitation/create': 'the gateway asks it',
}

async function refusalsIn(world: World): Promise<unknown[]> {
  const refusals: unknown[] = []
  for (const [method, paramsOf] of Object.entries(REFUSED))
    for (const params of typeof paramsOf === 'string' ? [] : paramsOf(world))
      refusals.push([method, params, await asks(method, () => params)(world).catch(asError)])
  return refusals
}

test.each(NETWORK_WIRES)(
  '17.2 each method of ACP has the same answer, the same refusals and the same updates at another host over %s',
  { ...needs('nats-server', 'curl'), timeout: 120_000 },
  async (wire) => {
    const { owner, other } = await startFleet()
    const recorded = async (at: Daemon): Promise<unknown> => {
      const { turns, ...world } = await worldAt(wire, at)
      const { user, connect: _, abort: __, ...names } = world
      const answered = await refusalsIn(world)
      for (const [method, { call }] of Object.entries(CALLS)) {
        if (method === 'session/list') await agree(owner, other)
        const answer = await call(world).catch(asError)
        answered.push([method, method === 'session/fork' ? withoutNumber(answer) : answer])
      }
      const ends = await Promise.all(turns.map((turn) => turn.catch(asError)))
      const { asking, questioning, cancelled } = world
      for (const id of [asking, questioning, cancelled]) answered.push(await user.prompt(id, 'last'))
      const messages = Object.entries(names).map(([name, id]) => [name, messagesOf(user, id)])
      return withoutNames({ answered, ends, messages }, names)
    }
    const [atOwner, atOther] = [await recorded(owner), await recorded(other)]
    expect(atOther).toEqual(atOwner)
    expect(JSON.stringify(atOwner)).toContain('echo: last')
  },
)

/** The lists of both hosts are the same: nothing that was asked before is still on its way. */
const agree = (owner: Daemon, other: Daemon): Promise<void> =>
  expect.poll(async () => (await listed(other)) === (await listed(owner)), PATIENT).toBe(true)

const asError = (thrown: unknown): unknown => {
  const { code, message, data } = thrown as { code?: number; message: string; data?: unknown }
  return { error: { code, message, data } }
}

/** How far the log of a new session is when it is answered depends on the moment. */
const withoutNumber = (answer: unknown): unknown =>
  JSON.parse(JSON.stringify(answer).replace(/"seq":\d+/, '"seq":0')) as unknown

/** The updates and requests of a session, in their order. That it has ended may come before it is deleted, or not. */
const messagesOf = ({ received }: AcpUser, id: string): unknown[] =>
  received.flatMap((message) => {
    if (!('method' in message) || JSON.stringify(message).includes('The session has ended')) return []
    const params = message.params as Record<string, unknown>
    return params['sessionId'] === id ? [{ method: message.method, params }] : []
  })

function withoutNames(recording: object, names: Readonly<Record<string, string>>): unknown {
  let text = JSON.stringify(recording)
  for (const [name, value] of Object.entries(names)) text = text.replaceAll(value, name)
  return JSON.parse(
    text
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/\b[rs]_[0-9a-z]{14,}/g, 'NEW')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UUID'),
  ) as unknown
}

test.each(NETWORK_WIRES)(
  '17.4 what each method of ACP is while the host of its session is killed, and when it is back, over %s',
  { ...needs('nats-server'), timeout: 180_000 },
  async (wire) => {
    const { owner, other, nextOwner } = await startFleet({ leaseMs: 3_000, keeper: true })
    const { turns, ...world } = await worldAt(wire, other)
    const { user } = world
    await owner.crash()
    world.abort()
    // Turns whose end only the lost host knows are answered, and the client is told of each session that it has open.
    for (const turn of turns) expect(await outcomeOf(turn)).toEqual(UNREACHABLE)
    const ids = [world.idle, world.busy, world.cancelled, world.asking, world.questioning]
    for (const id of ids) await expect.poll(() => noticesOf(user, id)[0], PATIENT).toMatch(/^warning: The host one/)
    await expect
      .poll(() => noticesOf(user, world.cancelled), PATIENT)
      .toContainEqual(expect.stringMatching(/^warning: Not cancelled/))
    for (const [method, { is, call }] of Object.entries(CALLS)) {
      const outcome = await outcomeOf(call(world))
      expect([method, outcome]).toEqual([method, EXPECTED[is]])
    }
    await expect.poll(() => noticesOf(user, world.busy).at(-1), PATIENT).toMatch(/^warning: Not cancelled/)
    const asked = user.dialogs.length

    const back = await nextOwner()
    for (const id of ids.filter((each) => each !== world.busy))
      await expect.poll(() => noticesOf(user, id).at(-1), PATIENT).toBe('info: The session goes on, on the host one')
    await expect.poll(() => user.dialogs.length, PATIENT).toBe(asked + 2)
    answers(world, world.asking, ALLOWED)
    answers(world, world.questioning, ACCEPTED)
    for (const id of [world.asking, world.questioning])
      await expect.poll(() => endsOf(user, id), PATIENT).toEqual(['end_turn'])
    expect(await user.prompt(world.idle, 'again')).toMatchObject({ stopReason: 'end_turn' })
    expect((await back.client.sessions.get(world.idle)).turnCount).toBe(2)
  },
)

const UNREACHABLE = { code: 'host_unreachable', retryAfter: 5 }
const EXPECTED: Readonly<Record<Away, unknown>> = {
  answered: 'answered',
  host_unreachable: UNREACHABLE,
  unknown: { code: -32_601 },
  told: 'answered',
  'asked again': 'answered',
}

async function worldAt(wire: NetworkWire, at: Daemon) {
  const capabilities = {
    session: { notices: {} },
    elicitation: { form: {} },
    _meta: { agentproto: { events: true } },
  }
  const connect = (): Promise<AcpUser> => overNetwork(wire, at, capabilities)
  const user = await connect()
  const cwd = temporaryFolder('work')
  const open = async (): Promise<string> => {
    const on = { _meta: { agentproto: { on: 'one' } } }
    return (await user.agent.request('session/new', { cwd, mcpServers: [], ...on })).sessionId
  }
  const ids = { idle: await open(), busy: await open(), cancelled: await open() }
  const waiting = { asking: await open(), questioning: await open() }
  await user.prompt(ids.idle, 'hello')
  const cancelling = new AbortController()
  const hanging = { sessionId: ids.cancelled, prompt: [{ type: 'text' as const, text: 'stream 1; hang' }] }
  const turns = [
    user.prompt(ids.busy, 'stream 1; hang'),
    user.agent.request('session/prompt', hanging, { cancellationSignal: cancelling.signal }),
    user.prompt(waiting.asking, 'ask'),
    user.prompt(waiting.questioning, 'question why'),
  ]
  for (const turn of turns) turn.catch(() => undefined)
  await expect.poll(() => [user.dialogs.length, user.said().split('chunk 1').length], PATIENT).toEqual([2, 3])
  return { user, connect, cwd, ...ids, ...waiting, turns, abort: () => cancelling.abort() }
}

async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call
    return 'answered'
  } catch (thrown) {
    const { code, data } = thrown as { readonly code: number; readonly data?: Record<string, unknown> }
    return data?.['code'] === undefined ? { code } : { code: data['code'], retryAfter: data['retryAfter'] }
  }
}

const noticesOf = ({ updates }: AcpUser, id: string): string[] =>
  updates.flatMap(({ sessionId, update }) =>
    sessionId === id && update.sessionUpdate === 'notice' ? [`${update.severity}: ${update.title}`] : [],
  )

/** Of turns that this client did not wait for any longer. */
const endsOf = ({ received }: AcpUser, id: string): unknown[] =>
  received.flatMap((message) => {
    if (!('method' in message) || message.method !== '_agentproto/turn_ended') return []
    const { sessionId, stopReason } = message.params as Record<string, unknown>
    return sessionId === id ? [stopReason] : []
  })

import { fileURLToPath } from 'node:url'
import { isAgentprotoError, type Client as Gateway } from '@agentproto/client'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway, type TestGateway } from './support/gateway.js'
import { pendingPermission } from './support/pending-request.js'

// F70: the same input has the same result, or the same error, over HTTP, over MCP, and over `agentproto mcp`.

const CLI = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))

/** One surface: calls a tool or its equivalent. An error is its problem document. */
type Surface = (row: Row, fixture: Fixture) => Promise<unknown>

/** The sessions that the calls use. Calls that change them get new ones, so that each surface does the same. */
interface Fixture {
  readonly cwd: string
  /** An idle session with one turn. */
  readonly idle: string
  /** A session whose turn asks for a permission. */
  readonly asking: string
  readonly requestId: string
  /** A killed session. */
  readonly over: string
}

interface Row {
  readonly name: string
  readonly tool: string
  readonly args: (fixture: Fixture) => Record<string, unknown>
  readonly http: (gateway: Gateway, fixture: Fixture) => Promise<unknown>
}

/** Tools that change the sessions. */
const CHANGING: ReadonlySet<string> = new Set([
  'prompt_agent_session',
  'interrupt_agent_session',
  'answer_agent_request',
  'resume_agent_session',
  'kill_agent_session',
])

const row = (
  tool: string,
  args: Row['args'],
  [http, name = tool]: readonly [http: Row['http'], name?: string],
): Row => ({ name, tool, args, http })

const ROWS: readonly Row[] = [
  // First: later rows leave sessions in mid-turn, whose records differ from one call to the next.
  row('list_agent_sessions', () => ({ limit: 2, onlyAlive: true }), [
    // MCP lists what AIP-46 says of a session, and what it waits for.
    async ({ sessions }) => {
      const page = await sessions.list({ limit: 2, onlyAlive: true })
      return { ...page, sessions: page.sessions.map(listed) }
    },
  ]),
  row('start_agent_session', ({ cwd }) => ({ adapter: 'demo', cwd, label: 'x', prompt: 'hi' }), [
    ({ sessions }, { cwd }) => sessions.start({ adapter: 'demo', cwd, label: 'x', prompt: 'hi' }),
  ]),
  row('start_agent_session', () => ({ adapter: 'unknown' }), [
    ({ sessions }) => sessions.start({ adapter: 'unknown' }),
    'start with an unknown adapter',
  ]),
  row('start_agent_session', ({ cwd }) => ({ adapter: 'demo', cwd, mode: 'nope' }), [
    ({ sessions }, { cwd }) => sessions.start({ adapter: 'demo', cwd, mode: 'nope' }),
    'start in an unknown mode',
  ]),
  row('start_agent_session', () => ({ adapter: 'demo', colour: 'red' }), [
    ({ sessions }) => sessions.start({ adapter: 'demo', colour: 'red' } as never),
    'start with an unknown field',
  ]),
  row('start_agent_session', () => ({ adapter: 'demo', workspaceSlug: 'nowhere' }), [
    ({ sessions }) => sessions.start({ adapter: 'demo', workspaceSlug: 'nowhere' }),
    'start in an unknown workspace',
  ]),
  row('prompt_agent_session', ({ idle }) => ({ sessionId: idle, prompt: 'again' }), [
    ({ sessions }, { idle }) => sessions.prompt(idle, { prompt: 'again' }),
  ]),
  row('prompt_agent_session', ({ asking }) => ({ sessionId: asking, prompt: 'again' }), [
    ({ sessions }, { asking }) => sessions.prompt(asking, { prompt: 'again' }),
    'prompt a busy session',
  ]),
  row('prompt_agent_session', ({ idle }) => ({ sessionId: idle, prompt: '' }), [
    ({ sessions }, { idle }) => sessions.prompt(idle, { prompt: '' }),
    'prompt with nothing',
  ]),
  row('list_agent_sessions', () => ({ limit: 0 }), [({ sessions }) => sessions.list({ limit: 0 }), 'list nothing']),
  row('list_agent_sessions', () => ({ after: 'nowhere' }), [
    ({ sessions }) => sessions.list({ after: 'nowhere' }),
    'list after no cursor',
  ]),
  row('prompt_agent_session', () => ({ sessionId: 'unknown', prompt: 'x' }), [
    ({ sessions }) => sessions.prompt('unknown', { prompt: 'x' }),
    'prompt an unknown session',
  ]),
  row('get_agent_session', ({ idle }) => ({ sessionId: idle }), [
    // MCP returns the pending requests with it.
    async ({ sessions }, { idle }) => ({ ...(await sessions.get(idle)), requests: [] }),
  ]),
  row('get_agent_session', () => ({ sessionId: 'unknown' }), [
    ({ sessions }) => sessions.get('unknown'),
    'get an unknown session',
  ]),
  row('get_agent_session_output', ({ idle }) => ({ sessionId: idle, lastN: 3 }), [
    async ({ sessions }, { idle }) => ({ lines: await sessions.output(idle, 3) }),
  ]),
  row('get_agent_session_output', ({ idle }) => ({ sessionId: idle, lastN: 9_999 }), [
    async ({ sessions }, { idle }) => ({ lines: await sessions.output(idle, 9_999) }),
    'output of too many lines',
  ]),
  row('get_session_changes', ({ idle }) => ({ sessionId: idle, to: '1' }), [
    ({ changes }, { idle }) => changes.list(idle, { to: '1' }),
  ]),
  row('get_session_changes', ({ idle }) => ({ sessionId: idle, to: '7' }), [
    ({ changes }, { idle }) => changes.list(idle, { to: '7' }),
    'changes to a turn that is none',
  ]),
  row('wait_for_sessions', ({ asking, idle }) => ({ sessionIds: [asking, idle] }), [
    // The requests and states that HTTP has in three answers.
    async ({ sessions }, { asking, idle }) => {
      const [one, two] = await Promise.all([sessions.get(asking), sessions.get(idle)])
      const { id, state, turn } = one
      const waiting = { id, state, turn, requests: await sessions.requests(asking) }
      return { sessions: [waiting, { id: two.id, state: two.state, turn: two.turn }] }
    },
  ]),
  row('wait_for_sessions', () => ({ sessionIds: ['unknown'] }), [
    ({ sessions }) => sessions.get('unknown'),
    'wait for an unknown session',
  ]),
  row('interrupt_agent_session', ({ asking }) => ({ sessionId: asking }), [
    ({ sessions }, { asking }) => sessions.interrupt(asking),
  ]),
  row('interrupt_agent_session', ({ idle }) => ({ sessionId: idle }), [
    ({ sessions }, { idle }) => sessions.interrupt(idle),
    'interrupt what idles',
  ]),
  row('interrupt_agent_session', () => ({ sessionId: 'unknown' }), [
    ({ sessions }) => sessions.interrupt('unknown'),
    'interrupt an unknown session',
  ]),
  row('answer_agent_request', ({ asking, requestId }) => ({ sessionId: asking, requestId, optionId: 'reject' }), [
    ({ sessions }, { asking, requestId }) => sessions.answer(asking, requestId, { optionId: 'reject' }),
  ]),
  row('answer_agent_request', ({ asking }) => ({ sessionId: asking, requestId: 'none', action: 'cancel' }), [
    ({ sessions }, { asking }) => sessions.answer(asking, 'none', { action: 'cancel' }),
    'answer an unknown request',
  ]),
  row('answer_agent_request', ({ asking, requestId }) => ({ sessionId: asking, requestId, optionId: 'maybe' }), [
    ({ sessions }, { asking, requestId }) => sessions.answer(asking, requestId, { optionId: 'maybe' }),
    'answer with no option of it',
  ]),
  row('resume_agent_session', ({ idle }) => ({ sessionId: idle }), [
    ({ sessions }, { idle }) => sessions.resume(idle),
    'resume what is live',
  ]),
  row('resume_agent_session', ({ over }) => ({ sessionId: over }), [({ sessions }, { over }) => sessions.resume(over)]),
  row('kill_agent_session', ({ idle }) => ({ sessionId: idle, reason: 'loop_detected' }), [
    ({ sessions }, { idle }) => sessions.kill(idle, { reason: 'loop_detected' }),
  ]),
  row('kill_agent_session', ({ over }) => ({ sessionId: over }), [
    ({ sessions }, { over }) => sessions.kill(over),
    'kill what has ended',
  ]),
  row('kill_agent_session', () => ({ sessionId: 'unknown' }), [
    ({ sessions }) => sessions.kill('unknown'),
    'kill an unknown session',
  ]),
  row('kill_agent_session', ({ over }) => ({ sessionId: over, reason: 'boredom' }), [
    ({ sessions }, { over }) => sessions.kill(over, { reason: 'boredom' as never }),
    'kill for no reason of ours',
  ]),
  row('wait_agent_turn', ({ idle }) => ({ sessionId: idle, turn: 1 }), [
    async ({ sessions }, { idle }) => ({ turn: 1, state: 'ended', id: idle, result: await sessions.waitTurn(idle, 1) }),
  ]),
  row('wait_agent_turn', ({ idle }) => ({ sessionId: idle, turn: 7 }), [
    ({ sessions }, { idle }) => sessions.waitTurn(idle, 7),
    'wait for a turn that is none',
  ]),
  row('list_agent_adapters', () => ({}), [async ({ adapters }) => ({ adapters: await adapters.list() })]),
  row('list_agent_workspaces', () => ({}), [({ workspaces }) => workspaces.list()]),
  row('list_agent_hosts', () => ({}), [async ({ hosts }) => ({ hosts: await hosts() })]),
]

test('the table has every tool', async () => {
  const { mcp } = await overMcp(await startGateway(), 'http')
  const { tools } = await mcp.listTools()
  expect(tools.map(({ name }) => name).toSorted()).toEqual([...new Set(ROWS.map(({ tool }) => tool))].toSorted())
})

test('each tool has the same result on all surfaces', async () => {
  const gateway = await startGateway({ sessions: { maxSessions: 1_000 } })
  const surfaces: readonly Surface[] = [
    ({ http }, fixture) => http(gateway.client, fixture),
    (await overMcp(gateway, 'http')).call,
    (await overMcp(gateway, 'stdio')).call,
  ]
  const shared = await fixtureOf(gateway)
  const outcomes = new Set<string>()
  for (const each of ROWS) {
    const [expected, ...others] = await inTurn(surfaces, async (surface) => {
      const fixture = CHANGING.has(each.name) ? await fixtureOf(gateway) : shared
      return comparable(await surface(each, fixture).catch(problemOf), fixture)
    })
    for (const other of others) expect([each.name, other]).toEqual([each.name, expected])
    const isRefused = typeof expected === 'object' && expected !== null && 'code' in expected
    outcomes.add(`${each.tool} ${isRefused ? 'refused' : 'done'}`)
  }
  // Each tool has a call that succeeds and, if possible, one that is refused.
  const takesNothing = new Set(['list_agent_adapters', 'list_agent_hosts', 'list_agent_workspaces'])
  const due = ROWS.flatMap(({ tool }) => [`${tool} done`, ...(takesNothing.has(tool) ? [] : [`${tool} refused`])])
  expect([...new Set(due)].filter((outcome) => !outcomes.has(outcome))).toEqual([])
}, 300_000)

async function inTurn<T, U>(all: readonly T[], work: (one: T) => Promise<U>): Promise<U[]> {
  const results: U[] = []
  for (const one of all) results.push(await work(one))
  return results
}

async function fixtureOf({ client: { sessions }, cwd }: TestGateway): Promise<Fixture> {
  const start = async (): Promise<string> => (await sessions.start({ adapter: 'demo', cwd })).id
  const [over, idle, asking] = await Promise.all([start(), start(), start()])
  const greet = (id: string): Promise<unknown> => sessions.promptAndWait(id, { prompt: 'hello' })
  await Promise.all([greet(over), greet(idle), sessions.prompt(asking, { prompt: 'ask' })])
  await sessions.kill(over)
  const { requestId } = await pendingPermission({ sessions }, asking)
  return { cwd, idle, asking, over, requestId }
}

interface OverMcp {
  readonly mcp: Client
  readonly call: Surface
}

async function overMcp({ url, token }: TestGateway, over: 'http' | 'stdio'): Promise<OverMcp> {
  const mcp = new Client({ name: 'test', version: '1' })
  const env = { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: token }
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await mcp.connect(
    over === 'http'
      ? new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit })
      : new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp'], env }),
  )
  onTestFinished(() => mcp.close())
  async function call({ tool, args }: Row, fixture: Fixture): Promise<unknown> {
    const result = await mcp.callTool({ name: tool, arguments: args(fixture) })
    const [content] = result.content
    return result.isError === true ? JSON.parse(content?.type === 'text' ? content.text : '') : result.structuredContent
  }
  return { mcp, call }
}

const LISTED = new Set(
  'id adapterSlug workspaceSlug cwd status state startedAt endedAt lastOutputAt exitCode label stopReason turn pendingRequests'.split(
    ' ',
  ),
)
const listed = (session: object): object =>
  Object.fromEntries(Object.entries(session).filter(([name]) => LISTED.has(name)))

const problemOf = (thrown: unknown): unknown => {
  if (!isAgentprotoError(thrown)) throw thrown
  return thrown.toProblem()
}

const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g

/** A checkpoint is taken beside the turn, so a session has its totals a moment later. */
const withoutTotals = (key: string, value: unknown): unknown => (key === 'changes' ? undefined : value)

/** A result without ids and times, which always differ. AIP-46 has two names for the id of a session. */
function comparable(result: unknown, fixture: Fixture): unknown {
  let text = JSON.stringify(result)
    .replaceAll(TIME, 'TIME')
    .replaceAll(/"busyMs":\d+/g, '"busyMs":0')
    .replaceAll('"sessionId":', '"id":')
  // In a query a number is a string.
  text = text.replaceAll(/\\"(\d+)\\"/g, '$1')
  for (const [name, value] of Object.entries(fixture)) text = text.replaceAll(value, name)
  text = text.replaceAll(/s_[0-9a-z]{14,}/g, 'new').replaceAll(/demo-[0-9a-f-]{36}/g, 'agent')
  const { ok: _ok, lastSeq: _lastSeq, ...rest } = JSON.parse(text, withoutTotals) as Record<string, unknown>
  return rest
}

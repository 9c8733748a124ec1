import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, isAgentprotoError, type SessionEvent } from '@agentproto/client'
import { operationOf, type Route, type ToolName } from '@agentproto/contracts/wire'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { curl, type CurlAnswer, type CurlRequest } from './support/curl.js'
import { CLI, type Daemon } from './support/daemon.js'
import { finished } from './support/finished-process.js'
import { startFleet } from './support/fleet.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A session of host `one` answers at host `two` with the bytes that it has at its own.

/** What a session has done before it is called. `none`: there is no such session. */
type Past = 'worked' | 'asking' | 'busy' | 'ended' | 'in a worktree' | 'ended in a worktree' | 'none'

/** One call; where it changes the session, each host gets a new session with the same past. */
interface Call {
  readonly on: Past
  readonly status: number
  readonly query?: string
  readonly body?: (session: Fixture) => unknown
  readonly headers?: Readonly<Record<string, string>>
  /** In place of those of the session. */
  readonly params?: Readonly<Record<string, string>>
}

interface Fixture {
  readonly id: string
  readonly cwd: string
  /** Of what it asks. */
  readonly requestId: string
  readonly optionId: string
  /** A rule that it has. */
  readonly ruleId: string
}

/** A route of a session: a new one does not compile until it has a call here. */
type SessionRoute = Extract<Route, `${string} /sessions/:id` | `${string} /sessions/:id/${string}`>

const STREAM = { accept: 'text/event-stream' }
const call = (on: Past, status: number, more: Omit<Call, 'on' | 'status'> = {}): Call => ({ on, status, ...more })
const sends = (body: unknown): Pick<Call, 'body'> => ({ body: () => body })

const CALLS: Readonly<Record<SessionRoute, readonly [Call, ...Call[]]>> = {
  'GET /sessions/:id': [call('worked', 200), call('ended', 200), call('asking', 200)],
  'PATCH /sessions/:id': [call('worked', 200, sends({ title: 'Another' })), call('ended', 200, sends({ title: 'x' }))],
  'DELETE /sessions/:id': [call('worked', 200), call('ended', 200)],
  'POST /sessions/:id/prompt': [
    call('worked', 202, sends({ prompt: 'again' })),
    call('worked', 200, sends({ prompt: 'stream 3', wait: true })),
    call('worked', 200, { ...sends({ prompt: 'stream 3' }), headers: STREAM }),
    call('busy', 409, sends({ prompt: 'again' })),
    call('busy', 202, sends({ prompt: 'again', whenBusy: 'queue' })),
    call('worked', 400, sends({ prompt: '' })),
  ],
  'POST /sessions/:id/interrupt': [
    call('busy', 200, sends({})),
    call('worked', 200, sends({})),
    call('worked', 400, sends({ turn: 0 })),
  ],
  'POST /sessions/:id/cancel': [call('busy', 200, sends({ turn: 1 }))],
  'POST /sessions/:id/resume': [call('ended', 200, sends({})), call('worked', 409, sends({}))],
  'POST /sessions/:id/config': [
    call('worked', 200, sends({ mode: 'plan', permissionMode: 'ask' })),
    call('worked', 422, sends({ mode: 'nope' })),
    call('ended', 409, sends({ mode: 'plan' })),
  ],
  'POST /sessions/:id/fork': [call('worked', 201, sends({ label: 'twin' })), call('busy', 409, sends({}))],
  'POST /sessions/:id/kill': [
    call('worked', 200, sends({ reason: 'loop_detected' })),
    call('ended', 200, sends({})),
    call('busy', 200, sends({})),
    call('worked', 400, sends({ reason: 'boredom' })),
  ],
  'GET /sessions/:id/output': [call('worked', 200), call('ended', 200, { query: 'lastN=2' })],
  'GET /sessions/:id/turns': [call('worked', 200), call('busy', 200, { query: 'limit=1' })],
  'GET /sessions/:id/turns/:turn': [
    call('worked', 200, { params: { turn: '1' } }),
    call('worked', 404, { params: { turn: '7' } }),
    call('worked', 404, { params: { turn: 'x' } }),
  ],
  'GET /sessions/:id/stream': [
    call('ended', 200, { headers: STREAM }),
    call('ended', 200, { headers: { ...STREAM, 'last-event-id': '2' } }),
  ],
  'GET /sessions/:id/events': [
    call('worked', 200),
    call('ended', 200, { query: 'after=3&limit=2' }),
    call('ended', 200, { headers: STREAM }),
    call('ended', 200, { headers: { ...STREAM, 'last-event-id': '4' } }),
    call('ended', 400, { query: 'after=-1' }),
  ],
  'GET /sessions/:id/requests': [call('asking', 200), call('worked', 200)],
  'POST /sessions/:id/requests/:requestId': [
    call('asking', 200, { body: ({ optionId }) => ({ optionId, reason: 'it is fine' }) }),
    call('asking', 200, sends({ action: 'cancel' })),
    call('asking', 400, sends({ optionId: 'maybe' })),
    call('asking', 404, { ...sends({ action: 'cancel' }), params: { requestId: 'none' } }),
  ],
  'GET /sessions/:id/rules': [call('worked', 200), call('ended', 200)],
  'POST /sessions/:id/rules': [
    call('worked', 201, sends({ decision: 'allow', command: 'ls **' })),
    call('worked', 400, sends({ decision: 'allow' })),
  ],
  'DELETE /sessions/:id/rules/:ruleId': [call('worked', 200), call('worked', 404, { params: { ruleId: 'none' } })],
  'GET /sessions/:id/export': [
    call('worked', 200),
    call('ended', 200, { query: 'format=md' }),
    call('ended', 200, { query: 'format=jsonl' }),
    call('ended', 400, { query: 'format=pdf' }),
  ],
  'GET /sessions/:id/transcript': [
    call('worked', 200),
    call('ended', 200, { query: 'format=markdown' }),
    call('ended', 200, { headers: { accept: 'text/markdown' } }),
  ],
  'POST /sessions/:id/repair': [call('ended', 200), call('ended', 200, { query: 'dryRun=true' }), call('worked', 409)],
  'GET /sessions/:id/changes': [
    call('worked', 200),
    call('ended', 200, { query: 'turn=1' }),
    call('worked', 404, { query: 'to=7' }),
  ],
  'GET /sessions/:id/changes/diff': [call('worked', 200), call('ended', 200, { query: 'path=two.txt' })],
  'POST /sessions/:id/changes/reviewed': [
    call('worked', 200, sends({ turn: 1 })),
    call('worked', 404, sends({ turn: 7 })),
  ],
  'POST /sessions/:id/rewind': [
    call('worked', 200, sends({ turn: 0 })),
    call('worked', 200, sends({ turn: 0, dryRun: true })),
    call('busy', 409, sends({ turn: 0 })),
  ],
  'POST /sessions/:id/worktree/merge': [call('in a worktree', 200, sends({})), call('worked', 501, sends({}))],
  'POST /sessions/:id/worktree/discard': [
    call('ended in a worktree', 200, sends({ force: true })),
    call('in a worktree', 409, sends({})),
  ],
}

const ROUTES = Object.entries(CALLS) as readonly [SessionRoute, readonly [Call, ...Call[]]][]
const PROGRAMS = needs('nats-server', 'curl', 'git')

test(
  '17.2 each operation of a session has the same bytes at another host',
  { ...PROGRAMS, timeout: 600_000 },
  async () => {
    const { owner, other } = await startFleet()
    const pasts = new Map<Past, Fixture>()
    const differing: unknown[] = []
    for (const [route, calls] of ROUTES)
      for (const each of calls) {
        const name = `${route} ${each.query ?? ''} ${JSON.stringify(each.headers ?? {})} on ${each.on}`
        const isRead = route.startsWith('GET')
        const shared = pasts.get(each.on) ?? (await fixture(owner, each.on))
        pasts.set(each.on, shared)
        const [atOwner, atOther] = isRead ? [shared, shared] : await twins(owner, each.on)
        const here = await made(owner, route, each, atOwner)
        const there = await made(other, route, each, atOther)
        expect.soft([name, here.status, here.text], name).toEqual([name, each.status, expect.anything()])
        const same = isRead ? (DATED.has(route) ? undated : (answer: CurlAnswer) => answer) : comparable
        const [expected, given] = [same(here, atOwner), same(there, atOther)]
        if (JSON.stringify(given) !== JSON.stringify(expected)) differing.push({ name, expected, given })
        if (isRead) continue
        await sameLog(owner, other, atOther).catch((error: unknown) => differing.push({ name, error }))
        await Promise.all([atOwner, atOther].map(({ id }) => owner.client.sessions.kill(id).catch(isGone)))
      }
    expect(differing).toEqual([])
  },
)

test('17.2 what a host refuses of a session is refused with the same bytes at another host', PROGRAMS, async () => {
  const { owner, other } = await startFleet()
  const session = await fixture(owner, 'worked')
  // Tokens are those of the host that is called: each host has its own reader.
  const reader = { name: 'reader', scope: 'read' }
  const readers = [await tokenOf(owner, reader), await tokenOf(other, reader)] as const
  for (const [route, [{ body }]] of ROUTES) {
    const sent = body === undefined ? {} : { body: body(session) }
    const refused = async (tokens: readonly [string?, string?], params: Fixture, request: CurlRequest = sent) => {
      const here = await ask(owner, route, { ...request, ...tokenIn(tokens[0]) }, { params })
      const there = await ask(other, route, { ...request, ...tokenIn(tokens[1]) }, { params })
      expect([route, there]).toEqual([route, here])
      return here.status
    }
    const own = [owner.token, other.token] as const
    expect([route, await refused(own, NONE)]).toEqual([route, 404])
    expect([route, await refused([], session)]).toEqual([route, 401])
    // A token of the owner is none of the other host.
    const { status } = await ask(other, route, { ...sent, token: owner.token }, { params: session })
    expect([route, status]).toEqual([route, 401])
    const { scope, body: parsed } = operationOf(route)
    // A reader may read, and what takes no body cannot be given a wrong one.
    const forbidden = scope === 'read' ? 403 : await refused(readers, session)
    const invalid = parsed === undefined ? 400 : await refused(own, session, { body: { nonsense: 1 } })
    expect([route, forbidden, invalid]).toEqual([route, 403, 400])
  }
  expect((await owner.client.sessions.get(session.id)).turn).toMatchObject({ number: 1 })
})

const tokenIn = (token: string | undefined): CurlRequest => (token === undefined ? {} : { token })

async function tokenOf({ url, token }: Daemon, body: object): Promise<string> {
  const created = await curl(`${url}/tokens`, { method: 'POST', token, body })
  return (JSON.parse(created.text) as { readonly token: string }).token
}

test(
  '17.2 a live session streams the same messages at both hosts while it is driven from the other one',
  PROGRAMS,
  async () => {
    const { owner, other } = await startFleet()
    const { id } = await fixture(owner, 'worked')
    const paths = [`/sessions/${id}/events`, `/sessions/${id}/stream`]
    const streamAt = ({ url, token }: Daemon, path: string, headers = {}) =>
      curl(`${url}${path}`, { token, headers: { ...STREAM, ...headers } }).then(bare)
    const live = paths.map((path) => [streamAt(owner, path), streamAt(other, path)] as const)
    await drive(other, id)
    for (const [atOwner, atOther] of live) {
      const { status, text } = await atOwner
      expect([status, text]).toEqual([200, expect.stringContaining('echo: last')])
      // Times of arrival decide only how a stream is cut, never what its messages are.
      expect(await atOther).toEqual(await atOwner)
    }
    const ids = [...(await streamAt(owner, `/sessions/${id}/events`)).text.matchAll(/^id: ?(.*)$/gm)].map(
      ([, each]) => each,
    )
    for (const last of ids) {
      const headers = { 'last-event-id': last ?? '' }
      const atOwner = await streamAt(owner, `/sessions/${id}/events`, headers)
      expect([last, await streamAt(other, `/sessions/${id}/events`, headers)]).toEqual([last, atOwner])
    }
  },
)

test('17.2 our client drives a session of another host as one of its own', PROGRAMS, async () => {
  const { owner, other } = await startFleet()
  const [atOwner, atOther] = await twins(owner, 'worked')
  const [here, there] = [await drive(owner, atOwner.id), await drive(other, atOther.id)]
  expect(withoutIds(there, atOther)).toEqual(withoutIds(here, atOwner))
})

test(
  '17.4 of a host that was killed another one answers with the same bytes what the logs have, and 503 else',
  { ...PROGRAMS, timeout: 120_000 },
  async () => {
    const { owner, other } = await startFleet()
    const pasts = ['worked', 'asking', 'busy', 'ended'] as const
    const sessions = await Promise.all(pasts.map(async (past) => [past, await fixture(owner, past)] as const))
    await expect.poll(() => listed(other), PATIENT).toEqual(await listed(owner))
    await expect.poll(() => lagOf(owner), PATIENT).toBe(0)
    const answers = async (at: Daemon): Promise<ReadonlyMap<string, unknown>> => {
      const all = new Map<string, unknown>()
      for (const [past, session] of sessions)
        for (const [route, query, more] of past === 'ended' ? [...IN_LOGS, ...STREAMS] : IN_LOGS) {
          const answer = await made(at, route, call(past, 200, { ...more, query: query ?? '' }), session)
          all.set(`${route} ${query ?? ''} ${past}`, DATED.has(route) ? undated(answer) : answer)
        }
      return all
    }
    const before = await answers(owner)
    await owner.crash()
    const stateAt = async (id: string): Promise<string> => (await other.client.sessions.get(id)).state
    await expect.poll(() => stateAt(sessions[0]?.[1].id ?? ''), PATIENT).toBe('unreachable')
    const after = await answers(other)
    for (const [name, answer] of before) expect.soft([name, after.get(name)]).toEqual([name, answer])
    for (const [, session] of sessions)
      for (const route of [
        'POST /sessions/:id/prompt',
        'GET /sessions/:id/changes',
        'GET /sessions/:id/rules',
      ] as const) {
        const { status, headers, text } = await made(other, route, CALLS[route][0], session)
        expect([route, status, headers['retry-after'], text]).toEqual([
          route,
          503,
          expect.stringMatching(/^\d+$/),
          expect.stringContaining('host_unreachable'),
        ])
      }
  },
)

const PATIENT = { timeout: 40_000 }

/** What the log of a session says. */
const IN_LOGS: readonly (readonly [SessionRoute, (string | undefined)?, Pick<Call, 'headers' | 'params'>?])[] = [
  ['GET /sessions/:id/output'],
  ['GET /sessions/:id/output', 'lastN=2'],
  ['GET /sessions/:id/turns'],
  ['GET /sessions/:id/turns', 'after=1'],
  ['GET /sessions/:id/turns/:turn', undefined, { params: { turn: '1' } }],
  ['GET /sessions/:id/turns/:turn', undefined, { params: { turn: '0' } }],
  ['GET /sessions/:id/turns/:turn', undefined, { params: { turn: 'x' } }],
  ['GET /sessions/:id/events'],
  ['GET /sessions/:id/events', 'after=3&limit=2'],
  ['GET /sessions/:id/requests'],
  ['GET /sessions/:id/export'],
  ['GET /sessions/:id/export', 'format=md'],
  ['GET /sessions/:id/export', 'format=jsonl'],
  ['GET /sessions/:id/transcript'],
]
/** Those of a session that has ended come to their end. */
const STREAMS: typeof IN_LOGS = [
  ['GET /sessions/:id/stream', undefined, { headers: STREAM }],
  ['GET /sessions/:id/stream', undefined, { headers: { ...STREAM, 'last-event-id': '4' } }],
  ['GET /sessions/:id/events', undefined, { headers: STREAM }],
  ['GET /sessions/:id/events', undefined, { headers: { ...STREAM, 'last-event-id': '4' } }],
]

/** At another host than that of the sessions it is what the directory has. */
const listed = async ({ url, token }: Daemon): Promise<string> =>
  (await curl(`${url}/sessions?host=one`, { token })).text

/** Events of its sessions that others cannot read yet. */
async function lagOf({ url, token }: Daemon): Promise<number | undefined> {
  const { hosts } = JSON.parse((await curl(`${url}/hosts`, { token })).text) as {
    readonly hosts: readonly { readonly self?: boolean; readonly lag: number }[]
  }
  return hosts.find(({ self }) => self)?.lag
}

/** A permission is answered, a turn is interrupted, and the session is killed. @returns all that the client gave */
async function drive({ client }: Daemon, id: string): Promise<unknown> {
  const { sessions, permissions, changes } = client
  const events = collect(sessions.events(id))
  const lines = collect(sessions.stream(id))
  const configured = await sessions.configure(id, { permissionMode: 'ask' })
  const { turn } = await sessions.prompt(id, { prompt: 'ask' })
  const asked = await pendingPermission(client, id)
  const answered = await sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
  const waited = await sessions.waitTurn(id, turn)
  const hanging = await sessions.prompt(id, { prompt: 'hang' })
  const interrupted = await sessions.interrupt(id)
  const last = await sessions.promptAndWait(id, { prompt: 'last' })
  const rules = await permissions.list({ sessionId: id })
  const changed = await changes.list(id, { turn: 1 })
  const renamed = await sessions.rename(id, { title: 'Renamed' })
  const killed = await sessions.kill(id)
  const calls = { configured, asked, answered, waited, hanging, interrupted, last, rules, changed, renamed, killed }
  return { ...calls, events: (await events).filter(isOfTurns), lines: await lines }
}

/** A checkpoint is taken beside the turns, at a time of its own. */
const isOfTurns = ({ type }: SessionEvent): boolean => !type.startsWith('checkpoint')

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test(
  '17.2 the tools of MCP and the command line reach a session of another host as one of its own',
  PROGRAMS,
  async () => {
    const { owner, other } = await startFleet()
    for (const surface of [byTools, byCommands]) {
      const [atOwner, atOther] = await twins(owner, 'asking')
      const [here, there] = [await surface(owner, atOwner), await surface(other, atOther)]
      expect(withoutIds(there, atOther)).toEqual(withoutIds(here, atOwner))
      expect(await owner.client.sessions.get(atOther.id)).toMatchObject({ status: 'killed', turn: { number: 2 } })
    }
  },
)

async function byTools({ url, token }: Daemon, { id: sessionId, requestId, optionId }: Fixture): Promise<unknown> {
  const mcp = new McpClient({ name: 'test', version: '1' })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await mcp.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  onTestFinished(() => mcp.close())
  const results: unknown[] = []
  const tool = async (name: ToolName, given: Readonly<Record<string, unknown>> = {}) => {
    const { isError, content, structuredContent } = await mcp.callTool({ name, arguments: { sessionId, ...given } })
    results.push([name, isError === true, structuredContent ?? content])
  }
  await tool('prompt_agent_session', { prompt: 'busy' })
  await tool('answer_agent_request', { requestId: 'none', optionId })
  await tool('answer_agent_request', { requestId, optionId })
  await tool('wait_agent_turn', { turn: 1 })
  await tool('prompt_agent_session', { prompt: 'again' })
  await tool('wait_agent_turn', { turn: 2 })
  await tool('get_agent_session_output', { lastN: 3 })
  await tool('interrupt_agent_session')
  await tool('get_session_changes', { to: 9 })
  await tool('resume_agent_session')
  await tool('kill_agent_session')
  await tool('get_agent_session')
  return results
}

async function byCommands({ url, token }: Daemon, { id, requestId, optionId }: Fixture): Promise<unknown> {
  const env = { ...process.env, AGENTPROTO_HOME: temporaryFolder('cli'), AGENTPROTO_URL: url, AGENTPROTO_TOKEN: token }
  const results: unknown[] = []
  const command = async (...words: string[]) => {
    const ended = await finished([CLI, 'sessions', ...words], { cwd: env.AGENTPROTO_HOME, env })
    // As members, so that totals that came earlier or later are left out like those of other answers.
    results.push(words.includes('--json') ? { ...ended, stdout: JSON.parse(ended.stdout) as unknown } : ended)
  }
  await command('prompt', id, 'busy')
  await command('answer', id, requestId, '--option', optionId)
  await command('wait', id)
  await command('prompt', id, 'again', '--wait')
  await command('logs', id)
  await command('kill', id)
  await command('show', id, '--json')
  return results
}

/** Members in one order, without what depends on the moment of a checkpoint: the totals, and the cursors of lines. */
function sorted(key: string, value: unknown): unknown {
  if (key === 'changes' || key === 'cursor') return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [two]) => (one < two ? -1 : 1)))
}

const withoutIds = (given: unknown, session: Fixture): unknown =>
  String(
    Object.values(comparable({ status: 0, headers: {}, text: JSON.stringify(given, sorted, 1) }, session) as object)[2],
  ).split('\n')

const twins = async (owner: Daemon, past: Past): Promise<readonly [Fixture, Fixture]> =>
  Promise.all([fixture(owner, past), fixture(owner, past)])

/** One of the calls has deleted it. */
function isGone(thrown: unknown): void {
  if (!isAgentprotoError(thrown) || thrown.code !== 'session_not_found') throw thrown
}

/** After a call through the other host, that host has the log and the record of the owner. */
async function sameLog(owner: Daemon, other: Daemon, { id }: Fixture): Promise<void> {
  for (const path of [`/sessions/${id}/events`, `/sessions/${id}`, `/sessions/${id}/requests`]) {
    const at = async ({ url, token }: Daemon): Promise<CurlAnswer> => bare(await curl(`${url}${path}`, { token }))
    // What the agent still does may come between two answers.
    await expect.poll(async () => JSON.stringify(await at(other)) === JSON.stringify(await at(owner))).toBe(true)
  }
}

function made(at: Daemon, route: SessionRoute, { query, body, headers = {}, params }: Call, session: Fixture) {
  const sent = body === undefined ? {} : { body: body(session) }
  return ask(at, route, { ...sent, headers, token: at.token }, { query, params: { ...session, ...params } })
}

interface Where {
  readonly query?: string | undefined
  readonly params: Fixture
}

async function ask({ url }: Daemon, route: SessionRoute, sent: CurlRequest, { query, params }: Where) {
  const [method = '', pattern = ''] = route.split(' ')
  const values = new Map(Object.entries(params))
  const path = pattern.replaceAll(/:(\w+)/g, (_all, name: string) => encodeURIComponent(values.get(name) ?? '1'))
  return bare(await curl(`${url}${path}${query === undefined ? '' : `?${query}`}`, { method, ...sent }))
}

/** Headers that say when was answered, and in how many pieces: a stream that has ended may come as one. */
const OF_ONE_ANSWER = new Set([
  'content-length',
  'transfer-encoding',
  'date',
  'x-request-id',
  'traceparent',
  'server-timing',
])

/** Without them, and without the comments that keep a stream open. */
const bare = ({ status, headers, text }: CurlAnswer): CurlAnswer => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ONE_ANSWER.has(name))),
  text: text.replaceAll(/^:.*\n\n?/gm, ''),
})

/** These answers say when they were made. */
const DATED: ReadonlySet<SessionRoute> = new Set([
  'GET /sessions/:id/export',
  'GET /sessions/:id/transcript',
  'GET /sessions/:id/changes',
])

const undated = ({ headers: { etag: _etag, ...headers }, ...answer }: CurlAnswer): unknown => ({
  ...answer,
  headers,
  text: answer.text.replaceAll(TIME, 'TIME'),
})

const TIME = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?:[:\d.]*)(?:Z| UTC)?/g

/** Without the ids and times of two sessions with the same past. A checkpoint is taken beside the turns, at a time of its own. */
function comparable({ status, headers, text }: CurlAnswer, { id, cwd, requestId, ruleId }: Fixture): unknown {
  let all = JSON.stringify({ status, headers, text })
  for (const [name, value] of Object.entries({ id, cwd, requestId, ruleId }))
    if (value !== '' && value !== 'none') all = all.replaceAll(value, name)
  return JSON.parse(
    all
      .replaceAll(TIME, 'TIME')
      .replaceAll(/("etag":)"[^"]*\\"[^"]*"/g, '$1"TAG"')
      .replaceAll(/(\\+"(?:busyMs|durationMs|pid|seq|firstSeq|lastSeq)\\+": ?)\d+/g, '$10')
      .replaceAll(/,\\+"changes\\+":\{[^{}]*\}/g, '')
      .replaceAll(/\b(?:s|r|pr)_[0-9a-z]{14,}/g, 'NEW')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g, 'UUID')
      .replaceAll(/[0-9a-f]{40,64}/g, 'HASH'),
  ) as unknown
}

const NONE: Fixture = { id: 's_0000000000000000000000', cwd: '', requestId: 'none', optionId: 'none', ruleId: 'none' }

async function fixture({ client }: Daemon, past: Past): Promise<Fixture> {
  if (past === 'none') return NONE
  const inTree = past.endsWith('worktree')
  const { id, cwd } = await client.sessions.start({
    adapter: 'demo',
    cwd: repository(),
    permissionMode: past === 'asking' ? 'ask' : 'approve-all',
    ...(inTree && { worktree: true }),
  })
  const session = { ...NONE, id, cwd }
  if (past === 'busy') {
    await client.sessions.prompt(id, { prompt: 'hang' })
    return session
  }
  if (past === 'asking') {
    await client.sessions.prompt(id, { prompt: 'ask' })
    const pending = await pendingPermission(client, id)
    return { ...session, requestId: pending.requestId, optionId: allowOnce(pending) }
  }
  await work(client, id)
  const { ruleId } = await client.permissions.add({ sessionId: id }, { decision: 'deny', command: 'rm **' })
  if (past.startsWith('ended')) await client.sessions.kill(id)
  return { ...session, ruleId }
}

/** One turn that writes a file; resolves when the folder was recorded after it. */
async function work({ sessions }: Client, id: string): Promise<void> {
  await sessions.promptAndWait(id, { prompt: 'write two.txt hello; stream 3' })
  for await (const event of sessions.events(id)) if (event.type === 'checkpoint' && event.turn === 1) return
}

/** With one commit of one file. */
function repository(): string {
  const folder = join(temporaryFolder('work'), 'repo')
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
  mkdirSync(folder)
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.com')
  writeFileSync(join(folder, 'one.txt'), 'first\n')
  git('add', '-A')
  git('commit', '-q', '-m', 'first')
  return folder
}

import { OPERATIONS, operationOf, type Route, TOOLS, type ToolName } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import {
  type Answered,
  accessCells,
  CALLER_NAMES,
  type Cells,
  KIND_NAMES,
  type Place,
  type World,
} from './fixtures/access-cells.js'
import { type Cell, expectedOf, hiddenFrom, REFUSALS, type Row } from './fixtures/access-rules.js'

// Every operation × every caller × every kind of session, of one real gateway, and of one that asks another host of its fleet for
// the sessions.

const RULE = { decision: 'deny', toolKind: 'edit' }
const NONE: Row = {}
const INITIALIZE = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } }
/** An operation of the table without a row here does not compile. */
const ROWS: Readonly<Record<Route, Row>> = {
  'GET /health': NONE,
  'GET /openapi.json': NONE,
  'GET /metrics': NONE,
  'ALL /mcp': { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } },
  'ALL /acp': { body: INITIALIZE },
  'ALL /acp/:agent': { path: '/acp/known', body: INITIALIZE },
  'GET /events': NONE,
  'GET /notifications': NONE,
  'POST /notifications/test': NONE,
  'GET /requests': NONE,
  'GET /hosts': NONE,
  'GET /search': { path: '/search?q=mark' },
  'GET /usage': NONE,
  'GET /sessions': NONE,
  'POST /sessions/agent': { starts: true },
  'POST /sessions/import': { body: { not: 'a session' } },
  'POST /sessions/prune': { body: { olderThanMs: 365 * 86_400_000 } },
  'GET /sessions/:id': NONE,
  // Titles stay: what must not be shown is found by them.
  'PATCH /sessions/:id': { body: { label: 'renamed' }, noAgent: true },
  'DELETE /sessions/:id': { ends: true, noAgent: true },
  'POST /sessions/:id/prompt': { body: { prompt: 'hello', whenBusy: 'queue' } },
  'POST /sessions/:id/interrupt': { body: {} },
  'POST /sessions/:id/cancel': { body: {} },
  'POST /sessions/:id/resume': { body: {} },
  'POST /sessions/:id/kill': { body: {}, ends: true },
  'POST /sessions/:id/config': { body: { model: 'm' }, noAgent: true },
  'POST /sessions/:id/fork': { body: {}, noAgent: true },
  'POST /sessions/:id/worktree/merge': { body: {}, noAgent: true },
  'POST /sessions/:id/worktree/discard': { body: {}, noAgent: true },
  'GET /sessions/:id/output': NONE,
  'GET /sessions/:id/turns': NONE,
  'GET /sessions/:id/turns/:turn': { path: '/sessions/:id/turns/1' },
  'GET /sessions/:id/stream': NONE,
  'GET /sessions/:id/events': NONE,
  'GET /sessions/:id/requests': NONE,
  'POST /sessions/:id/requests/:requestId': { path: '/sessions/:id/requests/r1', body: { optionId: 'yes' } },
  'GET /sessions/:id/rules': NONE,
  'POST /sessions/:id/rules': { body: RULE },
  'DELETE /sessions/:id/rules/:ruleId': { path: '/sessions/:id/rules/none' },
  'GET /sessions/:id/export': NONE,
  'GET /sessions/:id/transcript': NONE,
  'POST /sessions/:id/repair': NONE,
  'GET /sessions/:id/changes': NONE,
  'GET /sessions/:id/changes/diff': NONE,
  'POST /sessions/:id/changes/reviewed': { body: {}, noAgent: true },
  'POST /sessions/:id/rewind': { body: { turn: 0, dryRun: true }, noAgent: true },
  'GET /agents/:agent/sessions': { path: '/agents/known/sessions' },
  'POST /agents/:agent/sessions': { path: '/agents/known/sessions', starts: true },
  'GET /workspaces': NONE,
  'POST /workspaces': { body: { path: '/nowhere' } },
  'DELETE /workspaces/:slug': { path: '/workspaces/none' },
  'POST /workspaces/:slug/use': { path: '/workspaces/b/use' },
  'GET /rules': NONE,
  'GET /gateway': NONE,
  'GET /workspaces/:slug/rules': { path: '/workspaces/b/rules' },
  'POST /workspaces/:slug/rules': { path: '/workspaces/b/rules', body: RULE },
  'DELETE /workspaces/:slug/rules/:ruleId': { path: '/workspaces/b/rules/none' },
  'GET /adapters': NONE,
  'POST /adapters': { body: { source: '/nowhere' } },
  'GET /adapters/:slug': { path: '/adapters/known' },
  'DELETE /adapters/:slug': { path: '/adapters/none' },
  'GET /adapters/:slug/state': { path: '/adapters/known/state' },
  'GET /adapters/:slug/icon': { path: '/adapters/known/icon' },
  'POST /adapters/:slug/install': { path: '/adapters/none/install', body: {} },
  'POST /adapters/:slug/setup': { path: '/adapters/none/setup', body: {} },
  'POST /adapters/:slug/login': { path: '/adapters/none/login', body: {} },
  'POST /adapters/:slug/doctor': { path: '/adapters/none/doctor', body: {} },
  'POST /adapters/:slug/update': { path: '/adapters/none/update', body: {} },
  // A file in place of the registry, and its copy: no other server is asked.
  'GET /registry/agents': { path: '/registry/agents?from=/nowhere' },
  'GET /registry/agents/:id': { path: '/registry/agents/none?from=/nowhere' },
  'POST /registry/agents/:id': { path: '/registry/agents/none', body: { from: '/nowhere' } },
  'GET /registry/updates': { path: '/registry/updates?mode=offline' },
  'GET /secrets': NONE,
  'GET /tokens': NONE,
  'POST /tokens': { body: { name: 'again', scope: 'read' } },
  'DELETE /tokens/:name': { path: '/tokens/again' },
  'POST /tokens/:name/rotate': { path: '/tokens/again/rotate' },
  'POST /auth/code': NONE,
  'GET /auth/me': NONE,
  'POST /auth/logout': NONE,
  'GET /auth/exchange': { path: '/auth/exchange?code=:code' },
}

const TOOL_ROWS: Readonly<Record<ToolName, Row>> = {
  start_agent_session: { starts: true },
  prompt_agent_session: { body: { prompt: 'hello' } },
  list_agent_sessions: NONE,
  get_agent_session_output: NONE,
  get_agent_session: NONE,
  kill_agent_session: { ends: true },
  interrupt_agent_session: NONE,
  resume_agent_session: NONE,
  wait_agent_turn: { body: { timeoutSeconds: 0 } },
  get_session_changes: NONE,
  wait_for_sessions: { body: { timeoutSeconds: 0 } },
  answer_agent_request: { body: { requestId: 'r1', optionId: 'yes' } },
  list_agent_adapters: NONE,
  list_agent_workspaces: NONE,
  list_agent_hosts: NONE,
}

/** What these gateways do not have is no failure of theirs. */
const ABSENT_HERE: readonly string[] = ['not_supported', 'registry_unavailable']

function cellsOf(name: string, { scope, row }: Pick<Cell, 'scope' | 'row'>, isOfSession: boolean): readonly Cell[] {
  const places: readonly Place[] = ['a', 'b', 'outside']
  return CALLER_NAMES.flatMap((caller): Cell[] => {
    const cell = { name, scope, row, caller }
    if (row.starts === true) return places.map((at) => ({ ...cell, at }))
    return isOfSession ? KIND_NAMES.map((on) => ({ ...cell, on })) : [cell]
  })
}

const BELOW = '/agents/known/sessions'
/** A browser that has logged out is rejected from then on: these come last. */
const LAST: readonly Route[] = ['POST /auth/logout', 'GET /auth/exchange']
const ALL_ROUTES = Object.keys(OPERATIONS) as readonly Route[]
const ROUTES = [...ALL_ROUTES.filter((route) => !LAST.includes(route)), ...LAST]
// An operation without a row fails the test of the rows.
const routeCells = ROUTES.filter((route) => route in ROWS).flatMap((route) => {
  const { scope } = operationOf(route)
  const isOfSession = route.includes(' /sessions/:id')
  const cells = cellsOf(route, { scope, row: ROWS[route] }, isOfSession)
  // Each route of a session exists below its agent too.
  const below = route.replace(' /sessions', ` ${BELOW}`)
  if (!isOfSession) return cells
  // The same handler answers there: one more session for each end would only cost time.
  const again = cells.filter((cell) => cell.row.ends !== true || expectedOf(cell, 'one host') !== 'through')
  return [...cells, ...again.map((cell) => ({ ...cell, name: below }))]
})
const toolCells = Object.values(TOOLS)
  .filter(({ name }) => name in TOOL_ROWS)
  .flatMap(({ name, scope, input }) =>
    cellsOf(
      name,
      { scope, row: TOOL_ROWS[name as ToolName] },
      'sessionId' in input.shape || 'sessionIds' in input.shape,
    ),
  )

const placeIn = (world: World): object => (world === 'another host' ? { on: 'far' } : {})

type Send = (cells: Cells, cell: Cell, id: string) => Promise<Answered>

const overHttp: Send = async ({ request, folders, code, world }, { name, row, caller, at }, id) => {
  const [method = '', pattern = ''] = name.split(' ')
  const path = (row.path ?? pattern).replace(/^\/sessions(?=\/:id)/, pattern.startsWith(BELOW) ? BELOW : '/sessions')
  const named = path.includes(':code') ? path.replace(':code', await code()) : path.replace(':id', id)
  const start = at && {
    ...(path === '/sessions/agent' ? { adapter: 'known' } : {}),
    cwd: folders[at],
    ...placeIn(world),
  }
  return request(caller, { method: method === 'ALL' ? 'POST' : method, path: named, body: start ?? row.body })
}

const overMcp: Send = ({ tool, folders, world }, { name, row, caller, on, at }, id) => {
  const start = at && { adapter: 'known', cwd: folders[at], ...placeIn(world) }
  return tool(caller, name, {
    ...(on && (name === 'wait_for_sessions' ? { sessionIds: [id] } : { sessionId: id })),
    ...(start ?? row.body),
  })
}

test('12 every operation and every tool has its row', () => {
  expect(Object.keys(ROWS).toSorted()).toEqual(ROUTES.toSorted())
  expect(Object.keys(TOOL_ROWS).toSorted()).toEqual(Object.keys(TOOLS).toSorted())
})

// The same handlers answer below an agent: for sessions of another host once is enough.
const once = routeCells.filter(({ name }) => !name.includes(`${BELOW}/`))

test.each([
  ['12 routes × callers × sessions', 'one host', routeCells, overHttp],
  ['12 tools × callers × sessions', 'one host', toolCells, overMcp],
  ['17.7 routes × callers × sessions of another host', 'another host', once, overHttp],
  ['17.7 tools × callers × sessions of another host', 'another host', toolCells, overMcp],
] as const)(
  '%s: a rejected call changes nothing, and no answer shows what is hidden from its caller',
  { ...needs('nats-server'), timeout: 540_000 },
  async (_, world, all, send) => {
    const cells = await accessCells(world)
    const isOpen = (cell: Cell): boolean => expectedOf(cell, world) === 'through'
    const before = await cells.state()
    expect(
      await faultsOf(
        cells,
        all.filter((cell) => !isOpen(cell)),
        send,
      ),
    ).toEqual([])
    expect(await cells.state()).toEqual(before)
    expect(await faultsOf(cells, all.filter(isOpen), send)).toEqual([])
  },
)

async function faultsOf(cells: Cells, asked: readonly Cell[], send: Send): Promise<readonly string[]> {
  const faults: string[] = []
  for (const cell of asked) faults.push(...faultsIn(await send(cells, cell, await sessionOf(cells, cell)), cell, cells))
  return faults
}

const sessionOf = ({ ids, make, world }: Cells, cell: Cell): Promise<string> | string => {
  const { on, row } = cell
  if (on === undefined) return ''
  return row.ends === true && expectedOf(cell, world) === 'through' ? make(on) : ids[on]
}

function faultsIn({ status, code, text }: Answered, cell: Cell, cells: Cells): readonly string[] {
  const { name, caller, on, at } = cell
  const expected = expectedOf(cell, cells.world)
  const got = REFUSALS.includes(code ?? '') ? code : 'through'
  const isFailure = status >= 500 && !ABSENT_HERE.includes(code ?? '')
  const what = `${caller}: ${name} ${on ?? at ?? ''}`
  const leaks = hiddenFrom(cell, cells).filter((hidden) => text.includes(hidden))
  return [
    ...(got === expected && !isFailure ? [] : [`${what}: expected ${expected}, given ${status} ${code}`]),
    ...leaks.map((hidden) => `${what}: the answer has ${hidden}`),
  ]
}

test('12 what an answer shows of a session is found in it', async () => {
  const { request, ids, folders } = await accessCells()
  const { text } = await request('the owner', { method: 'GET', path: '/sessions' })
  for (const kind of KIND_NAMES) expect(text).toContain(ids[kind])
  for (const seen of [...['parent', 'child', 'foreign', 'ended'].map((kind) => `[mark of ${kind}]`), folders.b])
    expect(text).toContain(seen)
})

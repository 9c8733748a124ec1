import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { ACP_METHODS, OPERATIONS, TOOLS } from '@agentproto/contracts/wire'
import type { Gateway } from '@agentproto/runtime'
import { expect, test, vi } from 'vitest'
import { type AcpCaller, admittedCaller } from './fixtures/acp-caller.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// Every control action leaves one line in the audit log: the table of access is walked, route by route, tool by tool.

type Line = Readonly<Record<string, unknown>>

/** A call of a route, and the action that its line names; or why it has none. */
type Row =
  | { readonly action: string; readonly path: string; readonly body?: unknown; readonly type?: string }
  | { readonly exempt: string }

const on = (action: string, path: string, body: unknown = {}): Row => ({ action, path, body })
const unknownSession = (action: string, rest = '', body: unknown = {}): Row =>
  on(action, `/sessions/s_00000000${rest}`, body)
const READING: Row = { exempt: 'It only reads: its scope is what it shows' }

const rows: Readonly<Record<string, Row>> = {
  'POST /sessions/agent': on('spawn', '/sessions/agent', { adapter: 'none' }),
  'POST /agents/:agent/sessions': on('spawn', '/agents/demo/sessions', { cwd: '/nowhere' }),
  'DELETE /sessions/:id': unknownSession('forget'),
  'PATCH /sessions/:id': unknownSession('rename', '', { title: 'x' }),
  'POST /sessions/:id/prompt': unknownSession('prompt', '/prompt', { prompt: 'x' }),
  'POST /sessions/:id/interrupt': unknownSession('interrupt', '/interrupt'),
  'POST /sessions/:id/cancel': unknownSession('interrupt', '/cancel'),
  'POST /sessions/:id/resume': unknownSession('resume', '/resume'),
  'POST /sessions/:id/kill': unknownSession('kill', '/kill'),
  'POST /sessions/:id/config': unknownSession('configure', '/config', { mode: 'plan' }),
  'POST /sessions/:id/fork': unknownSession('fork', '/fork'),
  'POST /sessions/:id/worktree/merge': unknownSession('merge', '/worktree/merge'),
  'POST /sessions/:id/worktree/discard': unknownSession('discard', '/worktree/discard'),
  'POST /sessions/:id/changes/reviewed': unknownSession('review', '/changes/reviewed'),
  'POST /sessions/:id/rewind': unknownSession('rewind', '/rewind', { turn: 0 }),
  'POST /sessions/:id/repair': unknownSession('repair', '/repair'),
  'POST /sessions/import': { action: 'import', path: '/sessions/import', body: 'x', type: 'application/x-ndjson' },
  'POST /sessions/prune': on('prune', '/sessions/prune', { olderThanMs: 86_400_000 }),
  'POST /sessions/:id/requests/:requestId': unknownSession('answer', '/requests/r1', { optionId: 'yes' }),
  'POST /sessions/:id/rules': unknownSession('rule-add', '/rules', { decision: 'deny', toolKind: 'edit' }),
  'DELETE /sessions/:id/rules/:ruleId': unknownSession('rule-remove', '/rules/x'),
  'POST /workspaces': on('workspace-add', '/workspaces', { path: '/nowhere' }),
  'DELETE /workspaces/:slug': on('workspace-remove', '/workspaces/none'),
  'POST /workspaces/:slug/use': on('workspace-use', '/workspaces/none/use'),
  'GET /notifications': READING,
  'POST /notifications/test': on('notifications-test', '/notifications/test'),
  'GET /rules': READING,
  'GET /gateway': READING,
  'GET /workspaces/:slug/rules': READING,
  'POST /workspaces/:slug/rules': on('rule-add', '/workspaces/none/rules', { decision: 'deny', toolKind: 'edit' }),
  'DELETE /workspaces/:slug/rules/:ruleId': on('rule-remove', '/workspaces/none/rules/x'),
  'POST /adapters': on('adapter-add', '/adapters', { source: '/nowhere' }),
  'DELETE /adapters/:slug': on('adapter-remove', '/adapters/none'),
  'POST /adapters/:slug/install': on('adapter-install', '/adapters/demo/install'),
  'POST /adapters/:slug/setup': on('adapter-setup', '/adapters/demo/setup'),
  'POST /adapters/:slug/login': on('adapter-login', '/adapters/demo/login'),
  'POST /adapters/:slug/update': on('agent-update', '/adapters/none/update'),
  'GET /registry/agents': READING,
  'GET /registry/agents/:id': READING,
  'POST /registry/agents/:id': on('agent-add', '/registry/agents/none'),
  'GET /registry/updates': READING,
  'POST /adapters/:slug/doctor': on('adapter-doctor', '/adapters/demo/doctor'),
  'GET /secrets': READING,
  'GET /tokens': READING,
  'POST /auth/code': {
    exempt: 'A code opens nothing: its exchange makes a token, which is a token-create of who asked',
  },
  'POST /tokens': on('token-create', '/tokens', { name: 'ci', scope: 'read' }),
  'POST /tokens/:name/rotate': on('token-rotate', '/tokens/none/rotate'),
  'DELETE /tokens/:name': on('token-revoke', '/tokens/none'),
}

const tools: Readonly<Record<string, readonly [action: string, args: object]>> = {
  start_agent_session: ['spawn', { adapter: 'none' }],
  prompt_agent_session: ['prompt', { prompt: 'x' }],
  kill_agent_session: ['kill', {}],
  interrupt_agent_session: ['interrupt', {}],
  resume_agent_session: ['resume', {}],
  answer_agent_request: ['answer', { requestId: 'r1', optionId: 'yes' }],
}

const controlLines = async (home: string): Promise<readonly Line[]> =>
  (await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8').catch(() => ''))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

const headersOf = ({ token }: Pick<Gateway, 'token'>): Record<string, string> => ({
  authorization: `Bearer ${token}`,
  host: 'localhost',
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
})

/** The lines after the first so many, once there are any: they are written in the background. */
async function linesAfter(home: string, before: number): Promise<readonly Line[]> {
  await expect.poll(async () => (await controlLines(home)).length).toBeGreaterThan(before)
  return (await controlLines(home)).slice(before)
}

test('each route that changes something has one line, and one row here', async () => {
  const doing = Object.entries(OPERATIONS).filter(([, { scope }]) => scope === 'operate' || scope === 'admin')
  expect(doing.map(([route]) => route).sort()).toEqual(Object.keys(rows).sort())
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const seen: string[] = []
  for (const [route, row] of Object.entries(rows)) {
    if ('exempt' in row) continue
    const before = (await controlLines(home)).length
    const { path, body, type } = row
    const headers = { ...headersOf(gateway), ...(type === undefined ? {} : { 'content-type': type }) }
    const [method = ''] = route.split(' ')
    const sent =
      method === 'POST' || method === 'PATCH' ? { body: typeof body === 'string' ? body : JSON.stringify(body) } : {}
    await (await gateway.app.request(path, { method, headers, ...sent })).text()
    const lines = await linesAfter(home, before)
    seen.push(`${route}: ${lines.map(({ kind, action }) => `${String(kind)} ${String(action)}`).join(', ')}`)
    expect(lines.map(({ principal }) => principal)).toEqual([{ type: 'owner', name: 'owner' }])
  }
  expect(seen).toEqual(
    Object.entries(rows).flatMap(([route, row]) => ('exempt' in row ? [] : [`${route}: control ${row.action}`])),
  )
})

test('each tool that changes something has one line, and one row here', async () => {
  const doing = Object.entries(TOOLS).filter(([, { scope }]) => scope !== 'read')
  expect(doing.map(([tool]) => tool).sort()).toEqual(Object.keys(tools).sort())
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  for (const [name, [action, args]] of Object.entries(tools)) {
    const before = (await controlLines(home)).length
    const named = name === 'start_agent_session' ? {} : { sessionId: 's_00000000' }
    const params = { name, arguments: { ...named, ...args } }
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    await (await gateway.app.request('/mcp', { method: 'POST', headers: headersOf(gateway), body })).text()
    expect(await linesAfter(home, before)).toMatchObject([{ kind: 'control', action }])
  }
})

/** What a method does that a client sends, or that it is asked; or why it has no line. */
const methods: Readonly<Record<string, readonly [action: string, params: object] | string>> = {
  'session/new': ['spawn', { cwd: '/', mcpServers: [], _meta: { agentproto: { adapter: 'none' } } }],
  'session/prompt': ['prompt', { prompt: [{ type: 'text', text: 'ask' }] }],
  'session/request_permission': ['answer', { outcome: { outcome: 'cancelled' } }],
  'elicitation/create': 'It is answered by the same call as a permission',
  'session/set_mode': ['configure', { modeId: 'plan' }],
  'session/set_config_option': ['configure', { configId: 'model', value: 'demo-2' }],
  'session/set_model': 'It is not served',
  'session/cancel': ['interrupt', {}],
  'session/fork': ['fork', { cwd: '/' }],
  'session/delete': ['forget', {}],
}

test('each method of ACP that changes something has one line, and one row here', async () => {
  const doing = Object.entries(ACP_METHODS).filter(([, scope]) => scope !== 'read')
  expect(doing.map(([method]) => method).toSorted()).toEqual(Object.keys(methods).toSorted())
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { url } = await gateway.listen({ port: 0 })
  const { token } = await gateway.tokens.create({ name: 'editor', scope: 'operate' })
  const owner: Principal = { type: 'owner', name: 'owner' }
  const { id: sessionId } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  const client = await admittedCaller('websocket', { url, headers: { authorization: `Bearer ${token}` } })
  await client.ask('session/resume', { sessionId, cwd: home, mcpServers: [] })
  for (const [method, row] of Object.entries(methods)) {
    if (typeof row === 'string') continue
    const before = (await controlLines(home)).length
    const [action, params] = row
    await said(client, method, method === 'session/new' ? params : { sessionId, ...params })
    // What the agent was asked and did has lines of its own kinds.
    const control = (await linesAfter(home, before)).filter(({ kind }) => kind === 'control')
    const by = { type: 'token', name: 'editor' }
    expect([method, control]).toMatchObject([method, [{ action, principal: by }]])
  }
})

/** Says it as a client does. */
async function said(client: AcpCaller, method: string, params: object): Promise<void> {
  switch (method) {
    case 'session/cancel':
      return client.notify(method, params)
    case 'session/prompt':
      // It is answered at the end of its turn, which waits for an answer of the client.
      return void client.ask(method, params)
    case 'session/request_permission':
      await vi.waitUntil(() => client.heard.some((each) => each.method === method))
      return client.respond(client.heard.find((each) => each.method === method)?.id, params)
    default:
      await client.ask(method, params)
  }
}

test('a method of ACP that is refused is recorded with its caller, once for each call', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { url } = await gateway.listen({ port: 0 })
  const { token } = await gateway.tokens.create({ name: 'reader', scope: 'read' })
  const client = await admittedCaller('http', { url, headers: { authorization: `Bearer ${token}` } })
  const before = (await controlLines(home)).length
  await client.ask('session/new', { cwd: home, mcpServers: [] })
  await client.ask('session/delete', { sessionId: 's_00000000' })
  await gateway.close()
  const refused = { kind: 'refused', outcome: 'forbidden', path: '/acp', principal: { type: 'token', name: 'reader' } }
  expect((await controlLines(home)).slice(before)).toMatchObject([
    { ...refused, method: 'session/new' },
    { ...refused, method: 'session/delete' },
  ])
})

test('operations on workspaces and adapters say on which, and how they ended', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { workspaces, adapters } = gateway
  const ci: Principal = { type: 'token', name: 'ci', scope: 'admin' }
  await workspaces.add({ path: home, slug: 'here', use: true }, ci)
  await workspaces.use('here', ci)
  await workspaces.remove('here', ci)
  await expect(adapters.add('/nowhere', ci)).rejects.toMatchObject({ code: 'path_invalid' })
  for await (const event of adapters.provision('demo', { until: 'install' }, ci)) expect(event).toBeDefined()
  const left = adapters.provision('demo', { until: 'setup' }, ci)[Symbol.asyncIterator]()
  await left.next()
  await left.return?.()
  await gateway.close()
  expect(await controlLines(home)).toMatchObject([
    { action: 'workspace-add', outcome: 'ok', workspace: 'here', path: home, use: true, principal: { name: 'ci' } },
    { action: 'workspace-use', outcome: 'ok', workspace: 'here' },
    { action: 'workspace-remove', outcome: 'ok', workspace: 'here' },
    { action: 'adapter-add', outcome: 'path_invalid', source: '/nowhere' },
    { action: 'adapter-install', outcome: 'ok', adapter: 'demo' },
    { action: 'adapter-setup', outcome: 'cancelled', adapter: 'demo' },
  ])
})

test('a rejected request is recorded: who, what and from where, but no token', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { url } = await gateway.listen({ port: 0 })
  const { token } = await gateway.tokens.create({ name: 'reader', scope: 'read' })
  const call = async (path: string, more: Record<string, string>): Promise<number> =>
    (await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...more } })).status
  expect(await call('/sessions/prune?token=x', { authorization: 'Bearer wrong-and-secret' })).toBe(401)
  expect(await call('/sessions/prune', { authorization: `Bearer ${token}` })).toBe(403)
  expect(await call('/sessions/prune', { origin: 'https://elsewhere.example' })).toBe(403)
  const kill = { name: 'kill_agent_session', arguments: { sessionId: 's_00000000' } }
  await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { ...headersOf({ token }), host: '' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: kill }),
  })
  await gateway.close()
  const text = await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8')
  expect(text).not.toContain('wrong-and-secret')
  expect(text).not.toContain(token)
  const reader = { type: 'token', name: 'reader' }
  const prune = { kind: 'refused', method: 'POST', path: '/sessions/prune', from: '127.0.0.1' }
  expect((await controlLines(home)).slice(1)).toMatchObject([
    { ...prune, outcome: 'unauthorized' },
    { ...prune, outcome: 'forbidden', principal: reader },
    { ...prune, outcome: 'origin_not_allowed' },
    { kind: 'refused', outcome: 'forbidden', principal: reader, tool: 'kill_agent_session' },
  ])
})

test('repeated rejections cannot fill the disk: ten lines a minute, and one with the count of the others', async () => {
  const home = await temporaryHome()
  let now = Date.parse('2026-11-22T00:00:00.000Z')
  const clock = { now: () => now, after: () => ({ cancel: () => undefined }) }
  const gateway = await testGateway({ home, clock })
  const request = async (): Promise<void> =>
    void (await gateway.app.request(`/sessions/${'x'.repeat(5_000)}`, { headers: { host: 'localhost' } }))
  for (let tries = 0; tries < 500; tries++) await request()
  now += 61_000
  await request()
  await request()
  await gateway.close()
  const lines = await controlLines(home)
  expect(lines).toHaveLength(10 + 1 + 2)
  expect(lines[10]).toMatchObject({ kind: 'refused', repeated: 490, since: '2026-11-22T00:00:00.000Z' })
  for (const line of lines) expect(JSON.stringify(line).length).toBeLessThan(600)
})

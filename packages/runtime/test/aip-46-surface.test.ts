import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createGateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome } from './fixtures/temporary-home.js'

// AIP-46 §HTTP surface, §MCP tools, §Multi-turn semantics and §Security Considerations, over the socket of a real gateway
// with a real agent. What each route does with a wrong request is in gateway-http's tests.

test('AIP-46 createGateway: a daemon with the routes and the tools over one registry', async () => {
  const home = await temporaryHome()
  const gateway = await createGateway({ home })
  const { url, token } = await gateway.listen({ port: 0 })
  const ask = (path: string): Promise<Response> => fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
  expect(await (await ask('/sessions')).json()).toEqual({ sessions: [] })
  // A client of MCP posts; that the route is there is what is asked.
  expect((await ask('/mcp')).status).toBe(405)
  await gateway.close()
})

test('AIP-46 POST /sessions/agent: answers 201 with the Session', async () => {
  const { call, session, home } = await servedGateway()
  const { status, body } = await call('POST /sessions/agent', { adapter: 'demo', cwd: home })
  expect(status).toBe(201)
  expect(body).toMatchObject({ adapterSlug: 'demo', status: 'running' })
  expect(await session(String(body['id']))).toMatchObject({ id: body['id'] })
})

test('AIP-46 GET /sessions: answers with { sessions }, live ones and those that have ended', async () => {
  const { call, spawn } = await servedGateway()
  const [one, two] = [await spawn(), await spawn()]
  await call(`POST /sessions/${one.id}/kill`)
  const { status, body } = await call('GET /sessions')
  expect([status, Object.keys(body)]).toEqual([200, ['sessions']])
  expect(body['sessions']).toMatchObject([
    { id: two.id, status: 'running' },
    { id: one.id, status: 'killed' },
  ])
})

test('AIP-46 GET /sessions/:id: answers with the Session', async () => {
  const { call, spawn } = await servedGateway()
  const { id, startedAt } = await spawn({ label: 'one' })
  expect(await call(`GET /sessions/${id}`)).toMatchObject({ status: 200, body: { id, startedAt, label: 'one' } })
  expect((await call('GET /sessions/s_unknown')).status).toBe(404)
})

test('AIP-46 POST /sessions/:id/prompt: answers with { ok: true, id } before the turn has ended', async () => {
  const { call, spawn, session } = await servedGateway()
  const { id } = await spawn()
  expect((await call(`POST /sessions/${id}/prompt`, { prompt: 'hang' })).body).toMatchObject({ ok: true, id })
  expect((await session(id)).turn.state).toBe('busy')
})

test('AIP-46 POST /sessions/:id/kill: takes no body and answers with { ok, id }', async () => {
  const { call, spawn } = await servedGateway()
  const { id } = await spawn()
  expect(await call(`POST /sessions/${id}/kill`)).toEqual({ status: 200, body: { ok: true, id } })
  expect(await call(`POST /sessions/${id}/kill`)).toEqual({ status: 200, body: { ok: false, id } })
})

test('AIP-46 DELETE /sessions/:id: answers with { ok, id } and forgets a live session and one that has ended', async () => {
  const { call, spawn } = await servedGateway()
  const [live, ended] = [await spawn(), await spawn()]
  await call(`POST /sessions/${ended.id}/kill`)
  for (const { id } of [live, ended]) {
    expect(await call(`DELETE /sessions/${id}`)).toEqual({ status: 200, body: { ok: true, id } })
  }
  expect((await call('GET /sessions')).body).toEqual({ sessions: [] })
})

test('AIP-46 GET /sessions/:id/stream: the lines that were, then those that come, to the end of the session', async () => {
  const { call, spawn, open, turnEnded } = await servedGateway()
  const { id } = await spawn({ prompt: 'one' })
  await turnEnded(id)
  const stream = await open(`/sessions/${id}/stream`)
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  await call(`POST /sessions/${id}/prompt`, { prompt: 'two' })
  await turnEnded(id, 2)
  await call(`POST /sessions/${id}/kill`)
  const lines = [...(await stream.text()).matchAll(/^event: line\ndata: (.*)$/gm)].map(([, data = '']) =>
    JSON.parse(data),
  )
  expect(lines.map(({ line }) => line)).toEqual([
    '[user] one',
    'echo: one',
    '── turn-end (end_turn) ──',
    '[user] two',
    'echo: two',
    '── turn-end (end_turn) ──',
  ])
})

test('AIP-46 SpawnAgentRequest.adapter: is required, and names one that there is', async () => {
  const { call } = await servedGateway()
  expect(await call('POST /sessions/agent', {})).toMatchObject({ status: 400, body: { field: 'adapter' } })
  const unknown = await call('POST /sessions/agent', { adapter: 'unknown' })
  expect(unknown).toMatchObject({
    status: 404,
    body: { code: 'adapter_not_found', expected: expect.stringContaining('demo') },
  })
})

test('AIP-46 SpawnAgentRequest.workspaceSlug: is where the agent runs', async () => {
  const { call, spawn, home, turnEnded } = await servedGateway()
  const path = join(home, 'project')
  await mkdir(path)
  await call('POST /workspaces', { path, slug: 'project' })
  const { id } = await spawn({ cwd: undefined, workspaceSlug: 'project', prompt: 'run touch here' })
  await turnEnded(id)
  expect(await readdir(path)).toEqual(['here'])
})

test('AIP-46 SpawnAgentRequest.cwd: is absolute and there, or refused before anything is started', async () => {
  const { call, home } = await servedGateway()
  for (const cwd of ['relative', join(home, 'none')]) {
    expect((await call('POST /sessions/agent', { adapter: 'demo', cwd })).body).toMatchObject({ code: 'cwd_invalid' })
  }
  expect((await call('GET /sessions')).body).toEqual({ sessions: [] })
})

test('AIP-46 SpawnAgentRequest.prompt: is as a start and a prompt, one after the other', async () => {
  const { spawn, turnEnded } = await servedGateway()
  const { id, turnCount } = await spawn({ prompt: 'hello' })
  expect(turnCount).toBe(1)
  expect(await turnEnded(id)).toMatchObject({ reason: 'end_turn', text: 'echo: hello' })
})

test('AIP-46 SpawnAgentRequest.label: is what the list is filtered by', async () => {
  const { call, spawn } = await servedGateway()
  const { id } = await spawn({ label: 'mine' })
  await spawn({ label: 'yours' })
  expect((await call('GET /sessions?label=mine')).body).toMatchObject({ sessions: [{ id, label: 'mine' }] })
})

test('AIP-46 start_agent_session: takes the five inputs and returns the Session, as HTTP shows it', async () => {
  const { tool, session, call, home, turnEnded } = await servedGateway()
  await call('POST /workspaces', { path: home, slug: 'mine' })
  const inputs = { adapter: 'demo', workspaceSlug: 'mine', cwd: home, prompt: 'hello', label: 'by mcp' }
  const started = await tool('start_agent_session', inputs)
  const id = String(started['id'])
  await turnEnded(id)
  const { status, adapterSlug, workspaceSlug, cwd, label, startedAt } = await session(id)
  expect(started).toMatchObject({ id, status, adapterSlug, workspaceSlug, cwd, label, startedAt })
  expect(label).toBe('by mcp')
})

test('AIP-46 prompt_agent_session: returns at once; the reply is in get_agent_session_output', async () => {
  const { tool, spawn, turnEnded } = await servedGateway()
  const { id: sessionId } = await spawn()
  expect(await tool('prompt_agent_session', { sessionId, prompt: 'hello' })).toMatchObject({ ok: true, sessionId })
  await turnEnded(sessionId)
  const { lines } = await tool('get_agent_session_output', { sessionId })
  expect(lines).toContainEqual({ line: 'echo: hello', stream: 'stdout' })
})

test('AIP-46 list_agent_sessions: returns { sessions }; with onlyAlive those that live', async () => {
  const { tool, spawn, call } = await servedGateway()
  const [one, two] = [await spawn(), await spawn()]
  await call(`POST /sessions/${one.id}/kill`)
  expect(await tool('list_agent_sessions')).toMatchObject({ sessions: [{ id: two.id }, { id: one.id }] })
  expect(await tool('list_agent_sessions', { onlyAlive: false })).toMatchObject({ sessions: [{}, {}] })
  const { sessions } = await tool('list_agent_sessions', { onlyAlive: true })
  expect(sessions).toMatchObject([{ id: two.id, status: 'running' }])
})

test('AIP-46 get_agent_session_output: the last N lines, all of them where there are fewer', async () => {
  const { tool, spawn, turnEnded } = await servedGateway()
  const { id: sessionId } = await spawn({ prompt: 'stream 3' })
  await turnEnded(sessionId)
  const all = (await tool('get_agent_session_output', { sessionId, lastN: 1_000 }))['lines'] as readonly unknown[]
  expect(all).toMatchObject([{ line: '[user] stream 3' }, {}, {}, {}, { line: '── turn-end (end_turn) ──' }])
  expect((await tool('get_agent_session_output', { sessionId, lastN: 2 }))['lines']).toEqual(all.slice(-2))
})

test('AIP-46 kill_agent_session: returns { ok, sessionId }', async () => {
  const { tool, spawn } = await servedGateway()
  const { id: sessionId } = await spawn()
  expect(await tool('kill_agent_session', { sessionId })).toEqual({ ok: true, sessionId })
  expect(await tool('kill_agent_session', { sessionId })).toEqual({ ok: false, sessionId })
})

test('AIP-46 the MCP tools and the HTTP routes: what one does, the other shows', async () => {
  const { tool, call, home } = await servedGateway()
  const { id } = await tool('start_agent_session', { adapter: 'demo', cwd: home, label: 'by mcp' })
  const sessionId = String(id)
  expect((await call('GET /sessions')).body).toMatchObject(await tool('list_agent_sessions'))
  await call(`POST /sessions/${sessionId}/kill`)
  const overHttp = (await call(`GET /sessions/${sessionId}`)).body
  expect(overHttp).toMatchObject({ status: 'killed', label: 'by mcp' })
  const [listed] = (await tool('list_agent_sessions'))['sessions'] as Record<string, unknown>[]
  expect(overHttp).toMatchObject({ ...listed, id, status: 'killed', label: 'by mcp' })
})

test('AIP-46 multi-turn: prompts over HTTP and over MCP reach the same process, which remembers', async () => {
  const { call, tool, spawn, turnEnded, session, home } = await servedGateway()
  const prompt = 'run echo $PPID >> pids'
  const { id } = await spawn({ prompt })
  await turnEnded(id)
  await call(`POST /sessions/${id}/prompt`, { prompt })
  await turnEnded(id, 2)
  await tool('prompt_agent_session', { sessionId: id, prompt })
  await turnEnded(id, 3)
  const pids = (await readFile(join(home, 'pids'), 'utf8')).trim().split('\n')
  expect([pids.length, new Set(pids).size]).toEqual([3, 1])
  await tool('prompt_agent_session', { sessionId: id, prompt: 'recall' })
  expect(await turnEnded(id, 4)).toMatchObject({ text: expect.stringContaining(prompt) })
  expect(await session(id)).toMatchObject({ status: 'running', turnCount: 4 })
})

test('AIP-46 overlapping prompts over HTTP: 409, and the turn that runs is not touched', async () => {
  const { call, spawn, session } = await servedGateway()
  const { id } = await spawn({ prompt: 'hang' })
  const refused = await call(`POST /sessions/${id}/prompt`, { prompt: 'again' })
  expect(refused).toMatchObject({ status: 409, body: { code: 'turn_in_progress' } })
  expect(await session(id)).toMatchObject({ turnCount: 1, turn: { number: 1, state: 'busy' } })
})

test('AIP-46 overlapping prompts over MCP: an error', async () => {
  const { tool, spawn } = await servedGateway()
  const { id: sessionId } = await spawn({ prompt: 'hang' })
  const refused = await tool('prompt_agent_session', { sessionId, prompt: 'again' })
  expect(refused).toMatchObject({ isError: true, code: 'turn_in_progress', status: 409 })
})

test('AIP-46 the end of a turn: is a line in the output, with its reason', async () => {
  const { call, tool, spawn, turnEnded } = await servedGateway()
  const { id: sessionId } = await spawn({ prompt: 'hello' })
  await turnEnded(sessionId)
  await call(`POST /sessions/${sessionId}/prompt`, { prompt: 'hang' })
  await call(`POST /sessions/${sessionId}/interrupt`)
  const { lines } = await tool('get_agent_session_output', { sessionId })
  const ends = (lines as { line: string }[]).filter(({ line }) => line.startsWith('── turn-end'))
  expect(ends.map(({ line }) => line)).toEqual(['── turn-end (end_turn) ──', '── turn-end (cancelled) ──'])
})

test('AIP-46 no adapter installed: 501 with what to run; elsewhere nothing changes', async () => {
  const { call } = await servedGateway({ bundledAdapters: false })
  expect(await call('POST /sessions/agent', { adapter: 'demo' })).toMatchObject({
    status: 501,
    body: { code: 'no_adapter_installed', hint: expect.stringContaining('agentproto adapters') },
  })
  expect(await call('GET /sessions')).toEqual({ status: 200, body: { sessions: [] } })
})

test('AIP-46 auth of every route: without a token, loopback or not, each of the seven is 401', async () => {
  const { call, spawn } = await servedGateway()
  const { id } = await spawn()
  for (const route of [
    'GET /sessions',
    'POST /sessions/agent',
    `GET /sessions/${id}`,
    `POST /sessions/${id}/prompt`,
    `POST /sessions/${id}/kill`,
    `DELETE /sessions/${id}`,
    `GET /sessions/${id}/stream`,
    'POST /mcp',
  ]) {
    expect([route, (await call(route, undefined, 'wrong')).status]).toEqual([route, 401])
  }
  expect((await call(`GET /sessions/${id}`)).body).toMatchObject({ status: 'running' })
})

test('AIP-46 secrets in the output: a token that the agent prints is redacted', async () => {
  const { call, spawn, open, turnEnded } = await servedGateway()
  const secret = `agp_t_${'0'.repeat(16)}_${'x'.repeat(43)}`
  const { id } = await spawn({ prompt: `the token is ${secret} there` })
  await turnEnded(id)
  await call(`POST /sessions/${id}/kill`)
  const shown = [await (await open(`/sessions/${id}/stream`)).text(), await (await open(`/sessions/${id}`)).text()]
  expect(shown[0]).toContain('the token is')
  for (const text of shown) expect(text).not.toContain(secret)
})

test('AIP-46 cwd of a principal who is not local: outside of its workspaces is refused', async () => {
  const { call, home } = await servedGateway()
  const project = join(home, 'project')
  await mkdir(project)
  await call('POST /workspaces', { path: project, slug: 'project' })
  const made = await call('POST /tokens', { name: 'remote', scope: 'operate', workspaces: ['project'] })
  const spawnIn = (cwd: string): ReturnType<typeof call> =>
    call('POST /sessions/agent', { adapter: 'demo', cwd }, String(made.body['token']))
  for (const cwd of [home, '/', join(project, '..')]) {
    expect([cwd, (await spawnIn(cwd)).status]).toEqual([cwd, 403])
  }
  expect(await spawnIn(project)).toMatchObject({ status: 201, body: { workspaceSlug: 'project' } })
})

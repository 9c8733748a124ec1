import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import { homeLayout } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { faultyAgent } from './fixtures/faulty-agent.js'
import { servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome } from './fixtures/temporary-home.js'

test('12.B4 HTTP, MCP and the client list sessions by their state, and a killed one is not woken by a prompt', async () => {
  const { gateway, url, spawn, session, call, tool, turnEnded } = await servedGateway()
  const client = createClient({ url, token: gateway.token })
  const [idle, asking, killed] = [await spawn(), await spawn({ prompt: 'ask note.txt hello' }), await spawn()]
  await call(`POST /sessions/${killed.id}/kill`)
  await expect.poll(async () => (await session(asking.id)).state).toBe('waiting')
  for (const [state, { id }] of [
    ['idle', idle],
    ['waiting', asking],
    ['ended', killed],
  ] as const) {
    expect((await call(`GET /sessions?state=${state}`)).body).toMatchObject({ sessions: [{ id, state }] })
    expect(await tool('list_agent_sessions', { state })).toMatchObject({ sessions: [{ id, state }] })
    expect(await client.sessions.list({ state })).toMatchObject({ sessions: [{ id, state }] })
  }
  expect(await call('GET /sessions?state=killed')).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
  expect(await session(killed.id)).toMatchObject({ status: 'killed', attachable: false, wakeable: false })
  expect(await session(idle.id)).toMatchObject({ status: 'running', attachable: true, wakeable: false })
  const refused = { code: 'session_ended', detail: expect.stringContaining(`sessions resume ${killed.id}`) }
  expect(await call(`POST /sessions/${killed.id}/prompt`, { prompt: 'x' })).toMatchObject({
    status: 409,
    body: refused,
  })
  expect(await tool('prompt_agent_session', { sessionId: killed.id, prompt: 'x' })).toMatchObject(refused)
  expect(await call(`POST /sessions/${killed.id}/resume`, {})).toMatchObject({ status: 200, body: { state: 'idle' } })
  await call(`POST /sessions/${killed.id}/prompt`, { prompt: 'recall' })
  expect(await turnEnded(killed.id)).toMatchObject({ reason: 'end_turn' })
})

test('12.B5 the last status on /stream says why the session ended, and how it failed', async () => {
  const { spawn, call, open } = await servedGateway()
  const [killed, crashed] = [await spawn(), await spawn({ prompt: 'crash 7' })]
  await call(`POST /sessions/${killed.id}/kill`, { reason: 'budget_exceeded' })
  const last = async (id: string): Promise<unknown> => {
    const text = await (await open(`/sessions/${id}/stream`)).text()
    return JSON.parse([...text.matchAll(/^event: status\ndata: (.*)$/gm)].at(-1)?.[1] ?? '')
  }
  expect(await last(killed.id)).toMatchObject({ status: 'killed', stopReason: 'budget_exceeded' })
  const failure = { kind: 'process_exit', summary: expect.any(String) }
  expect(await last(crashed.id)).toMatchObject({ status: 'exited', exitCode: 7, stopReason: 'agent_crashed', failure })
})

test('12.B5 a failed spawn names the session that it left, whose record has the exit code and the signal', async () => {
  for (const [fault, exit] of [
    ['ends at once', { exitCode: 3 }],
    ['is killed at once', { exitCode: 137, signal: 'SIGKILL' }],
  ] as const) {
    const executables = { 'agentproto-demo-agent': await faultyAgent(await temporaryHome(), fault) }
    const { call, tool, home, session } = await servedGateway({ executables })
    const request = { adapter: 'demo', cwd: home }
    const { status, body } = await call('POST /sessions/agent', request)
    expect([status, body]).toEqual([502, expect.objectContaining({ code: 'handshake_failed' })])
    const { sessionId } = await tool('start_agent_session', request)
    for (const id of [body['sessionId'], sessionId])
      expect(await session(String(id))).toMatchObject({ id, status: 'error', state: 'failed', ...exit })
  }
})

test('12.B5 a start that is refused for its mode or an option leaves no session: watchers get `forgotten`', async () => {
  const { call, home, gateway } = await servedGateway()
  const watcher = gateway.sessions.watch()
  for (const [wrong, code] of [
    [{ mode: 'nope' }, 'mode_unknown'],
    [{ options: { nope: 1 } }, 'option_invalid'],
  ] as const) {
    const { status, body } = await call('POST /sessions/agent', { adapter: 'demo', cwd: home, ...wrong })
    expect([status, body]).toEqual([422, expect.objectContaining({ code })])
    expect(body).not.toHaveProperty('sessionId')
    expect((await call('GET /sessions')).body).toEqual({ sessions: [] })
    expect((await watcher.next())?.at(-1)).toMatchObject({ type: 'forgotten' })
    expect(await readdir(homeLayout(home).sessions)).toEqual([])
  }
  watcher.close()
})

test('12.B6 PATCH /sessions/:id renames, by HTTP and by the client; the audit log and watchers have it', async () => {
  const { url, gateway, home, spawn, call } = await servedGateway()
  const client = createClient({ url, token: gateway.token })
  const { id } = await spawn({ label: 'old' })
  const watcher = gateway.sessions.watch()
  expect(await call(`PATCH /sessions/${id}`, { label: 'new' })).toMatchObject({
    status: 200,
    body: { id, label: 'new' },
  })
  expect(await watcher.next()).toMatchObject([{ type: 'session', session: { label: 'new' } }])
  watcher.close()
  expect(await client.sessions.rename(id, { title: 'Fix it', label: null })).toMatchObject({ id, title: 'Fix it' })
  expect((await call(`GET /sessions/${id}`)).body).not.toHaveProperty('label')
  await spawn({ label: 'taken' })
  const inUse = { code: 'label_in_use' }
  expect(await call(`PATCH /sessions/${id}`, { label: 'taken' })).toMatchObject({ status: 409, body: inUse })
  for (const wrong of [{}, { label: '' }, { label: 'x'.repeat(201) }, { status: 'killed' }, { title: 7 }])
    expect((await call(`PATCH /sessions/${id}`, wrong)).status).toBe(400)
  expect((await call('PATCH /sessions/s_00000000', { label: 'x' })).status).toBe(404)
  await gateway.close()
  const lines = (await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8')).trim().split('\n')
  const renames = lines.map((line) => JSON.parse(line)).filter(({ action }) => action === 'rename')
  expect(renames).toMatchObject([
    { session: id, label: 'new', outcome: 'ok' },
    { session: id, titleChars: 6, outcome: 'ok' },
    { session: id, label: 'taken', outcome: 'label_in_use' },
    { session: 's_00000000', outcome: 'session_not_found' },
  ])
})

import { readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import { defined, type Session } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { faultyAgent } from './fixtures/faulty-agent.js'
import { servedGateway } from './fixtures/served-gateway.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// AIP-46 §Session data model, §Status transitions and §Workspaces, row by row, over the socket of a real gateway with a
// real agent.

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

test('AIP-46 Session.id: is the same for as long as the session is known, and no two have the same', async () => {
  const { spawn, session, call } = await servedGateway()
  const [one, two] = [await spawn(), await spawn()]
  expect([one.id, two.id]).toEqual([expect.any(String), expect.any(String)])
  expect(one.id).not.toBe(two.id)
  await call(`POST /sessions/${one.id}/kill`)
  expect((await session(one.id)).id).toBe(one.id)
})

test('AIP-46 Session.adapterSlug: is the slug of the manifest', async () => {
  const { spawn, session } = await servedGateway()
  expect((await session((await spawn()).id)).adapterSlug).toBe('demo')
})

test('AIP-46 Session.workspaceSlug: names the workspace that it is bound to, "default" where there is none', async () => {
  const { spawn, call, home } = await servedGateway()
  expect((await spawn()).workspaceSlug).toBe('default')
  await call('POST /workspaces', { path: home, slug: 'mine' })
  expect((await spawn({ cwd: undefined, workspaceSlug: 'mine' })).workspaceSlug).toBe('mine')
})

test('AIP-46 Session.cwd: is absolute, and that of the workspace where the slug was resolved', async () => {
  const { spawn, call } = await servedGateway()
  const folder = await temporaryHome()
  const { body } = await call('POST /workspaces', { path: folder, slug: 'mine' })
  const { cwd } = await spawn({ cwd: undefined, workspaceSlug: 'mine' })
  expect(cwd).toBe(await realpath(folder))
  expect(body['path']).toBe(cwd)
})

test('AIP-46 Session.status: is one of the five words, whatever becomes of the session', async () => {
  const { spawn, session, ended, call } = await servedGateway()
  const [live, killed, crashed] = [await spawn(), await spawn(), await spawn({ prompt: 'crash 7' })]
  await call(`POST /sessions/${killed.id}/kill`)
  const statuses = [await session(live.id), await session(killed.id), await ended(crashed.id)].map((one) => one.status)
  expect(statuses).toEqual(['running', 'killed', 'exited'])
})

test('AIP-46 Session.startedAt: is the time of the spawn, ISO-8601', async () => {
  const { spawn } = await servedGateway()
  const before = Date.now()
  const { startedAt } = await spawn()
  expect(startedAt).toMatch(ISO)
  expect(Date.parse(startedAt)).toBeGreaterThanOrEqual(before)
  expect(Date.parse(startedAt)).toBeLessThanOrEqual(Date.now())
})

test('AIP-46 Session.endedAt: is there when the session has ended, and only then', async () => {
  const { spawn, session, call } = await servedGateway()
  const { id } = await spawn()
  expect(await session(id)).not.toHaveProperty('endedAt')
  await call(`POST /sessions/${id}/kill`)
  const { startedAt, endedAt = '' } = await session(id)
  expect(endedAt).toMatch(ISO)
  expect(Date.parse(endedAt)).toBeGreaterThanOrEqual(Date.parse(startedAt))
})

test('AIP-46 Session.lastOutputAt: is the time of the last line, and moves with each', async () => {
  const { spawn, session, call, gateway, turnEnded } = await servedGateway()
  const { id } = await spawn()
  expect(await session(id)).not.toHaveProperty('lastOutputAt')
  const seen: (string | undefined)[] = []
  for (const turn of [1, 2, 3]) {
    await call(`POST /sessions/${id}/prompt`, { prompt: 'stream 1 20' })
    await turnEnded(id, turn)
    seen.push((await session(id)).lastOutputAt)
  }
  const { records } = await gateway.sessions.events(id, 0, 1_000)
  expect(records.map(({ json }) => tsOf(json))).toEqual(expect.arrayContaining(seen))
  const texts = records.filter(({ type }) => type === 'text-delta').map(({ json }) => tsOf(json))
  // Each text, and then the last line of its turn.
  const times = texts.flatMap((ts, turn) => [Date.parse(ts), Date.parse(seen[turn] ?? '')])
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(new Set(seen).size).toBe(3)
  // What is no output of the agent does not move it.
  const { lastOutputAt } = await session(id)
  expect(lastOutputAt).toMatch(ISO)
  await call(`POST /sessions/${id}/kill`)
  expect((await session(id)).lastOutputAt).toBe(lastOutputAt)
})

const tsOf = (json: string): string => (JSON.parse(json) as { readonly ts: string }).ts

test('AIP-46 Session.exitCode: is that of the process, whichever it is, and unset while it is alive', async () => {
  const { spawn, session, call, ended } = await servedGateway()
  for (const exitCode of [0, 1, 7, 255]) {
    const { id } = await spawn()
    expect(await session(id)).not.toHaveProperty('exitCode')
    await call(`POST /sessions/${id}/prompt`, { prompt: `crash ${exitCode}` })
    expect((await ended(id)).exitCode).toBe(exitCode)
  }
})

test('AIP-46 Session.label: is what the spawner said, and nothing where they said nothing', async () => {
  const { spawn } = await servedGateway()
  expect((await spawn({ label: 'conversation 12 / Ada' })).label).toBe('conversation 12 / Ada')
  expect(await spawn()).not.toHaveProperty('label')
})

test('AIP-46 starting → running: the agent is ready for its first turn, whose prompt it takes at once', async () => {
  const { spawn, open, call } = await servedGateway()
  const { id, status } = await spawn()
  expect(status).toBe('running')
  expect((await call(`POST /sessions/${id}/prompt`, { prompt: 'hello' })).status).toBe(202)
  await call(`POST /sessions/${id}/kill`)
  expect(await (await open(`/sessions/${id}/stream`)).text()).toMatch(
    /^event: status\ndata: \{.*"status":"running","previous":"starting"/m,
  )
})

test('AIP-46 starting → error: a spawn that fails leaves the session in error', async () => {
  const agent = await faultyAgent(await temporaryHome(), 'ends at once')
  const { call, home } = await servedGateway({ executables: { 'agentproto-demo-agent': agent } })
  const refused = await call('POST /sessions/agent', { adapter: 'demo', cwd: home })
  expect(refused.status).toBe(502)
  expect((await call('GET /sessions')).body).toMatchObject({
    sessions: [{ status: 'error', endedAt: expect.any(String) }],
  })
})

test('AIP-46 running → exited: the child has ended by itself, with its code', async () => {
  const folder = await temporaryHome()
  const agent = await faultyAgent(folder, 'exits on request')
  const { spawn, ended } = await servedGateway({ executables: { 'agentproto-demo-agent': agent } })
  const { id } = await spawn({ cwd: folder })
  await writeFile(join(folder, 'leave'), '')
  expect(await ended(id)).toMatchObject({ status: 'exited', exitCode: 0 })
})

test('AIP-46 running → killed by kill_session: over HTTP and over MCP', async () => {
  const { spawn, session, call, tool } = await servedGateway()
  const [one, two] = [await spawn(), await spawn()]
  await call(`POST /sessions/${one.id}/kill`)
  await tool('kill_agent_session', { sessionId: two.id })
  expect([(await session(one.id)).status, (await session(two.id)).status]).toEqual(['killed', 'killed'])
})

test('AIP-46 running → killed by DELETE: watchers are notified, and then the session is deleted', async () => {
  const { spawn, open, call } = await servedGateway()
  const { id } = await spawn()
  const watched = (await open(`/sessions/${id}/stream`)).text()
  expect((await call(`DELETE /sessions/${id}`)).body).toEqual({ ok: true, id })
  expect(await watched).toMatch(/^event: status\ndata: \{.*"status":"killed"/m)
  expect((await call(`GET /sessions/${id}`)).status).toBe(404)
})

test('AIP-46 running → killed by the end of the host: a live agent is killed with it, and the next host says so', async () => {
  const { spawn, session, gateway, home } = await servedGateway()
  const [busy, idle] = [await spawn({ prompt: 'hang' }), await spawn()]
  const pids = await Promise.all([busy, idle].map(({ id }) => pidOf(home, id)))
  expect(pids.map(isAlive)).toEqual([true, true])
  expect((await session(busy.id)).status).toBe('running')
  await gateway.close()
  expect(pids.map(isAlive)).toEqual([false, false])
  const next = await testGateway({ home })
  for (const { id } of [busy, idle])
    expect(await next.sessions.get(id)).toMatchObject({
      status: 'killed',
      endedAt: expect.stringMatching(ISO) as string,
    })
})

/** Of the agent, from the record of its session. */
async function pidOf(home: string, id: string): Promise<number> {
  const path = join(homeLayout(home).sessions, id, 'meta.json')
  await expect.poll(() => readFile(path, 'utf8'), { timeout: 10_000 }).toContain('"pid":')
  const {
    process: { pid },
  } = JSON.parse(await readFile(path, 'utf8')) as { readonly process: { readonly pid: number } }
  return pid
}

/** Signal 0 reaches a process without an effect. */
function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('AIP-46 running → exited: also in the middle of a turn, with any exit code', async () => {
  const { spawn, ended } = await servedGateway()
  for (const exitCode of [0, 1, 7, 255]) {
    const { id } = await spawn({ prompt: `crash ${exitCode}` })
    expect(await ended(id)).toMatchObject({ status: 'exited', exitCode, stopReason: 'agent_crashed' })
  }
})

test('AIP-46 running → error: an agent that closes its pipes in its turn; its last line says how', async () => {
  const agent = await faultyAgent(await temporaryHome(), 'closes its pipes')
  const { spawn, ended, tool } = await servedGateway({ executables: { 'agentproto-demo-agent': agent } })
  const { id } = await spawn({ prompt: 'x' })
  const { status, lastOutputAt, endedAt } = await ended(id)
  expect(status).toBe('error')
  expect(Date.parse(lastOutputAt ?? '')).toBeLessThanOrEqual(Date.parse(endedAt ?? ''))
  const { lines } = await tool('get_agent_session_output', { sessionId: id })
  expect((lines as { line: string }[]).map(({ line }) => line)).toContainEqual(expect.stringMatching(/^\[error\] ./))
})

test('AIP-46 cwd of the spawn: wins over workspaceSlug', async () => {
  const { spawn, call, home } = await servedGateway()
  const elsewhere = await realpath(await temporaryHome())
  await call('POST /workspaces', { path: home, slug: 'mine' })
  expect((await spawn({ cwd: elsewhere, workspaceSlug: 'mine' })).cwd).toBe(elsewhere)
})

test('AIP-46 cwd of workspaceSlug: wins over the active workspace; one that there is not is no other', async () => {
  const { spawn, call } = await servedGateway()
  // Neither is the folder of the host, which is where a slug that is ignored would lead.
  const [active, mine] = [await temporaryHome(), await temporaryHome()]
  await call('POST /workspaces', { path: active, slug: 'active', use: true })
  await call('POST /workspaces', { path: mine, slug: 'mine' })
  expect(await spawn({ cwd: undefined, workspaceSlug: 'mine' })).toMatchObject({
    cwd: await realpath(mine),
    workspaceSlug: 'mine',
  })
  expect(await call('POST /sessions/agent', { adapter: 'demo', workspaceSlug: 'nowhere' })).toMatchObject({
    body: { code: 'workspace_not_found' },
  })
})

test('AIP-46 cwd of the active workspace: where the spawn names none', async () => {
  const { spawn, call } = await servedGateway()
  const active = await temporaryHome()
  await call('POST /workspaces', { path: active, slug: 'active', use: true })
  const session = await spawn({ cwd: undefined })
  expect(session).toMatchObject({ cwd: await realpath(active), workspaceSlug: 'active', warnings: [] })
})

test('AIP-46 cwd of the host: where there is no workspace, with a warning', async () => {
  const host = await temporaryHome()
  const { spawn } = await servedGateway({ cwd: host })
  const { cwd, warnings } = await spawn({ cwd: undefined })
  expect([cwd, warnings]).toEqual([await realpath(host), [expect.stringContaining(cwd)]])
})

test('AIP-46 workspaces.json: what a client adds is in the file that the command line reads', async () => {
  const { call, home } = await servedGateway()
  const path = await realpath(await temporaryHome())
  await call('POST /workspaces', { path, slug: 'mine', label: 'Main', use: true })
  const at = expect.stringMatching(ISO) as string
  expect(JSON.parse(await readFile(homeLayout(home).workspaces, 'utf8'))).toEqual({
    version: 1,
    active: 'mine',
    workspaces: [{ slug: 'mine', path, addedAt: at, updatedAt: at, label: 'Main' }],
  })
})

test('AIP-46 sessions.json: holds the descriptors as the routes show them, while the host runs and after its end', async () => {
  const { gateway, home, spawn, session, call } = await servedGateway()
  const [live, killed] = [await spawn({ label: 'kept' }), await spawn()]
  await call(`POST /sessions/${killed.id}/kill`)
  expect(homeLayout(home).sessionsIndex).toBe(join(home, 'sessions.json'))
  const shown = { [live.id]: fieldsOf(await session(live.id)), [killed.id]: fieldsOf(await session(killed.id)) }
  expect(shown[live.id]).toMatchObject({ status: 'running', label: 'kept', cwd: await realpath(home) })
  await expect.poll(() => stored(home)).toEqual(shown)
  await gateway.close()
  const endedAt = expect.stringMatching(ISO) as string
  expect(await stored(home)).toEqual({ ...shown, [live.id]: { ...shown[live.id], status: 'killed', endedAt } })
})

/** The descriptors of the file, by their id. */
async function stored(home: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(homeLayout(home).sessionsIndex, 'utf8').catch(() => '{"sessions":[]}')
  const { sessions } = JSON.parse(text) as { readonly sessions: readonly { readonly session: Session }[] }
  return Object.fromEntries(sessions.map(({ session }) => [session.id, fieldsOf(session)]))
}

/** What AIP-46 says of a session, without what moves by itself. */
const fieldsOf = ({ id, adapterSlug, workspaceSlug, cwd, status, startedAt, endedAt, label }: Session) =>
  defined({ id, adapterSlug, workspaceSlug, cwd, status, startedAt, endedAt, label })

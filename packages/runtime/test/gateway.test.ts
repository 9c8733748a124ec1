import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal, Session } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { createGateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

test('in one process: spawn, two turns of one conversation, kill', async () => {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: 'the word is heron' }, owner)).turn)
  const { text } = await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: 'recall' }, owner)).turn)
  expect(text).toContain('the word is heron')
  expect(await sessions.kill(id, owner)).toEqual({ ok: true })
  expect(await sessions.get(id)).toMatchObject({ status: 'killed', stopReason: 'user_canceled' })
})

test('a configuration changes the agent, and a fork knows the conversation', async () => {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  const say = async (at: string, prompt: string): Promise<string> =>
    (await sessions.waitTurn(at, (await sessions.prompt(at, { prompt }, owner)).turn)).text
  await say(id, 'the word is heron')
  const set = await sessions.configure(id, { mode: 'plan', model: 'demo-2' }, owner)
  expect(set.config).toMatchObject({ modeId: 'plan', modelId: 'demo-2' })
  await say(id, 'write note.txt hello')
  expect(existsSync(join(home, 'note.txt'))).toBe(false)
  await expect(sessions.configure(id, { model: 'demo-9' }, owner)).rejects.toMatchObject({ code: 'option_invalid' })
  // It goes on although the old one has ended: the agent has stored what was said.
  await sessions.kill(id, owner)
  const fork = await sessions.fork(id, {}, owner)
  expect(fork).toMatchObject({ status: 'running', forkedFrom: id })
  expect(await say(fork.id, 'recall')).toContain('the word is heron')
})

test('the OpenAPI document is that of the whole gateway, made once', async () => {
  const gateway = await testGateway({ home: await temporaryHome() })
  const headers = { authorization: `Bearer ${gateway.token}`, host: 'localhost' }
  const response = await gateway.app.request('/openapi.json', { headers })
  const document = (await response.json()) as { openapi: string; components: { schemas: { Session: object } } }
  expect(document.openapi).toBe('3.1.1')
  expect(document.components.schemas.Session).toMatchObject({ properties: { id: { type: 'string' } } })
  const again = { ...headers, 'if-none-match': response.headers.get('etag') ?? '' }
  expect((await gateway.app.request('/openapi.json', { headers: again })).status).toBe(304)
})

test('one registry under both families: what MCP starts, HTTP lists', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { url, token } = await gateway.listen({ port: 0 })
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'start_agent_session', arguments: { adapter: 'demo', cwd: home, label: 'by mcp' } },
  }
  const response = await fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(call) })
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('by mcp')
  const { sessions } = (await (await fetch(`${url}/sessions`, { headers })).json()) as { sessions: Session[] }
  expect(sessions).toMatchObject([{ label: 'by mcp', status: 'running' }])
})

test('the app can be mounted without a socket, and two gateways live in one process', async () => {
  const [one, two] = [await temporaryHome(), await temporaryHome()]
  const [a, b] = [await testGateway({ home: one }), await testGateway({ home: two })]
  const { id } = await a.sessions.spawn({ adapter: 'demo', cwd: one, label: 'in a' }, owner)
  const ask = (gateway: typeof a, token: string): Response | Promise<Response> =>
    gateway.app.request(`/sessions/${id}`, { headers: { authorization: `Bearer ${token}`, host: 'localhost' } })
  expect((await ask(a, a.token)).status).toBe(200)
  expect((await ask(b, b.token)).status).toBe(404)
  expect((await ask(b, a.token)).status).toBe(401)
})

test('a home that cannot be written is rejected by name, before anything is started', async () => {
  const file = join(await temporaryHome(), 'a-file')
  await writeFile(file, '')
  const home = join(file, 'home')
  await expect(createGateway({ home })).rejects.toMatchObject({
    code: 'storage_failed',
    message: expect.stringContaining(home),
  })
})

test('a home in which nothing can be created is rejected too, and nothing hangs', async () => {
  // The kernel's own file system takes no folder, and says that there is none: Node tries for ever to make those above it.
  await expect(createGateway({ home: '/proc/agentproto/home' })).rejects.toMatchObject({ code: 'storage_failed' })
})

test('a home is created with its missing parents', async () => {
  const home = join(await temporaryHome(), 'a', 'b', 'home')
  const gateway = await createGateway({ home })
  await gateway.close()
  expect((await stat(home)).mode & 0o777).toBe(0o700)
})

test('F94 a second gateway on one home is rejected with the pid of the first; the home is free after its end', async () => {
  const home = await temporaryHome()
  const first = await createGateway({ home })
  await expect(createGateway({ home })).rejects.toMatchObject({
    code: 'daemon_running',
    parts: { data: { pid: process.pid } },
  })
  await first.close()
  await (await createGateway({ home })).close()
})

test('the lock of a killed gateway is replaced at once, and a reused pid is not mistaken for its owner', async () => {
  const home = await temporaryHome()
  const gone = Number(execFileSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' }))
  for (const dead of [{ pid: gone, startTime: '1' }, { pid: process.ppid, startTime: 'another' }, 'garbage']) {
    await writeFile(join(home, 'daemon.lock'), JSON.stringify(dead))
    const gateway = await createGateway({ home })
    expect(gateway.home).toBe(home)
    await gateway.close()
  }
})

test('listening writes a record that only the owner can read, and closing removes it', async () => {
  const home = await temporaryHome()
  const layout = homeLayout(home)
  const gateway = await createGateway({ home })
  const { url, token } = await gateway.listen({ port: 0 })
  expect(JSON.parse(await readFile(layout.daemon, 'utf8'))).toMatchObject({ pid: process.pid, url })
  expect((await readFile(layout.token, 'utf8')).trim()).toBe(token)
  for (const path of [layout.daemon, layout.token]) expect((await stat(path)).mode & 0o777).toBe(0o600)
  await Promise.all([gateway.close(), gateway.close()])
  expect(existsSync(layout.daemon)).toBe(false)
  await expect(fetch(`${url}/health`)).rejects.toThrow()
  expect((await readFile(layout.token, 'utf8')).trim()).toBe(token)
})

test('closing a busy gateway ends streams with their terminal event, and every agent', async () => {
  const home = await temporaryHome()
  const gateway = await createGateway({ home, cwd: home, env: { ...process.env, AGENTPROTO_DEMO_HOME: home } })
  const { url, token } = await gateway.listen({ port: 0 })
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'stream 1000 50' }, owner)
  const stream = await fetch(`${url}/sessions/${id}/stream`, { headers: { authorization: `Bearer ${token}` } })
  const text = stream.text()
  await gateway.close()
  expect(await text).toMatch(/event: status\ndata: \{[^\n]*"killed"[^\n]*\}\n\n$/)
  expect(await gateway.sessions.get(id)).toMatchObject({ stopReason: 'shutdown' })
})

test('beyond loopback needs a permission, and a taken port is an error with a hint', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  for (const host of ['0.0.0.0', '::'])
    await expect(gateway.listen({ host, port: 0 })).rejects.toMatchObject({ code: 'listen_failed' })
  const { url } = await gateway.listen({ port: 0 })
  await expect(gateway.listen({ port: Number(new URL(url).port) })).rejects.toMatchObject({
    code: 'listen_failed',
    message: expect.stringContaining('--port 0') as string,
  })
})

test('AIP-46 no adapter installed: 501, and 404 with the known ones for an unknown adapter', async () => {
  const none = await testGateway({ home: await temporaryHome(), bundledAdapters: false })
  await expect(none.sessions.spawn({ adapter: 'demo' }, owner)).rejects.toMatchObject({
    code: 'no_adapter_installed',
    row: { status: 501 },
  })
  const some = await testGateway({ home: await temporaryHome() })
  await expect(some.sessions.spawn({ adapter: 'nope' }, owner)).rejects.toMatchObject({
    code: 'adapter_not_found',
    message: expect.stringContaining('demo') as string,
  })
})

test('an adapter that is not installed is refused before anything is spawned, with what to run', async () => {
  const home = await temporaryHome()
  const { sessions, adapters } = await testGateway({
    home,
    env: { PATH: '/nowhere', AGENTPROTO_DEMO_HOME: home },
    executables: { opencode: '/nowhere/opencode' },
  })
  expect(await adapters.get('opencode')).toMatchObject({
    installed: false,
    installHint: 'agentproto adapters install opencode',
  })
  await expect(sessions.spawn({ adapter: 'opencode', cwd: home }, owner)).rejects.toMatchObject({
    code: 'agent_not_installed',
  })
})

test('adapters of the home join the bundled ones, and a broken one is left out and reported', async () => {
  const home = await temporaryHome()
  const { adapters: folder } = homeLayout(home)
  await cp(new URL('../../adapters/catalog/demo', import.meta.url), join(folder, 'mine'), { recursive: true })
  const manifest = join(folder, 'mine', 'AGENT-CLI.md')
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace(/^(name|id): demo$/gm, '$1: mine'))
  await mkdir(join(folder, 'broken'))
  await writeFile(join(folder, 'broken', 'AGENT-CLI.md'), '---\nname: [\n---\n')
  const problems: string[] = []
  const { adapters, sessions } = await testGateway({ home, onProblem: (problem) => void problems.push(problem) })
  expect((await adapters.list()).map(({ slug, source }) => `${slug} ${source}`)).toEqual(
    expect.arrayContaining(['demo bundled', 'mine user']),
  )
  expect(problems.join()).toContain('broken')
  expect(await sessions.spawn({ adapter: 'mine', cwd: home }, owner)).toMatchObject({
    status: 'running',
    adapterSlug: 'mine',
  })
})

test('F84 what a resume needs is in no answer, and every file of the home is readable by its owner only', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home: join(home, 'home'), cwd: home })
  const { url, token } = await gateway.listen({ port: 0 })
  const ask = async (path: string, body?: object): Promise<string> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const post = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, { headers, ...post })
    const text = await response.text()
    expect(response.ok, text).toBe(true)
    return text
  }
  const mcpServers = [
    { name: 'tools', command: process.execPath, args: ['-e', ''], env: [{ name: 'KEY', value: 'hush-env' }] },
  ]
  const instructions = 'never say hush-instructions'
  const answers = [await ask('/sessions/agent', { adapter: 'demo', cwd: home, mcpServers, instructions })]
  const { id } = JSON.parse(answers[0] ?? '') as { id: string }
  await gateway.sessions.waitTurn(id, (await gateway.sessions.prompt(id, { prompt: 'hello' }, owner)).turn)
  answers.push(await ask(`/sessions/${id}/kill`, {}), await ask(`/sessions/${id}/resume`, {}))
  answers.push(await ask(`/sessions/${id}`), await ask('/sessions'), await ask(`/sessions/${id}/turns`))
  expect(answers.join('\n')).not.toContain('hush')
  expect(JSON.parse(answers[3] ?? '')).not.toHaveProperty('spawn')
  // It is there, or this would prove nothing.
  expect(await readFile(join(homeLayout(gateway.home).sessions, id, 'meta.json'), 'utf8')).toContain('hush-env')
  await gateway.close()
  expect(await openToOthers(gateway.home)).toEqual([])
})

/** What somebody else of this machine could read or write, below a folder. */
async function openToOthers(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  expect(names.length).toBeGreaterThan(3)
  const modes = await Promise.all(names.map(async (name) => (await lstat(join(folder, name))).mode & 0o077))
  return names.filter((_, index) => modes[index] !== 0)
}

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startRemoteAgent } from '../../arms/acp/test/fixtures/remote-agent.ts'
import { folder } from './cli-process.js'
import { runHere } from './run-here.js'

const VALUE = 'tok-4711-build-server'
const SECRET = ['--secret-header', 'authorization=build-server']

/** A home with a secret, and an agent that runs elsewhere: on loopback. */
async function world() {
  const home = folder()
  const agent = await startRemoteAgent()
  const run = (...args: readonly string[]) => runHere(args, { home })
  await runHere(['secrets', 'set', 'build-server', '--store', 'file'], { home, input: VALUE })
  const all = (): string =>
    filesBelow(home)
      .filter((path) => !path.endsWith('/secrets.json'))
      .map((path) => readFileSync(path, 'utf8'))
      .join('\n')
  const place = new URL(agent.url).host
  return { home, agent, run, all, place }
}

const filesBelow = (path: string): readonly string[] =>
  readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)],
  )

const added = (home: string): readonly string[] =>
  existsSync(join(home, 'adapters')) ? readdirSync(join(home, 'adapters')) : []

test('an agent that runs elsewhere is added by its address, with a secret by its slug, and shown without its value', async () => {
  const { home, agent, run, all, place } = await world()
  const add = await run('adapters', 'add', agent.url, '--as', 'build', ...SECRET, '--allow-private')
  expect(add).toMatchObject({ code: 0, stdout: 'build\n' })
  expect(add.stderr).toContain(`${agent.url}, called build here`)
  expect(add.stderr).toContain('headers: authorization; with the secrets: build-server')
  expect(add.stderr).toContain('The connection is not encrypted')
  expect(add.stderr).toContain(`${place} is private`)
  expect(agent.upgrades.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${VALUE}`])
  expect(agent.sent('session/new')).toEqual([])
  expect(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))).toEqual({ endpoints: { private: [place] } })
  const manifest = readFileSync(join(home, 'adapters/build/AGENT-CLI.md'), 'utf8')
  expect(manifest).toContain('authorization: Bearer {secret:build-server}')
  expect(manifest).toContain('mode: resumable')
  expect(readFileSync(join(home, 'adapters/build/ACP.md'), 'utf8')).toContain('transport: websocket')
  expect(await run('manifest', 'validate', join(home, 'adapters/build'))).toMatchObject({ code: 0 })

  const shown = await run('adapters', 'show', 'build')
  expect(shown.stdout).toContain(`runs at    ${agent.url}`)
  expect(shown.stdout).toMatch(/ready +yes/)
  const json = await run('adapters', 'show', 'build', '--json')
  expect(JSON.parse(json.stdout)).toMatchObject({
    installed: true,
    endpoint: { url: agent.url, headers: ['authorization'], secrets: ['build-server'] },
    state: { ready: true, secrets: [{ slug: 'build-server', set: true }] },
  })
  const doctor = await run('adapters', 'doctor', 'build')
  expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining('remote 1') })
  const installed = await run('adapters', 'install', 'build')
  expect(installed).toMatchObject({ code: 0, stderr: expect.stringContaining('it runs elsewhere') })
  const outputs = [add, shown, json, doctor, installed].flatMap(({ stdout, stderr }) => [stdout, stderr])
  expect([...outputs, all()].join('\n')).not.toContain(VALUE)
  const audit = readFileSync(join(home, 'logs/audit.jsonl'), 'utf8')
  expect(audit).toContain('"action":"adapter-add"')
  expect(audit).toContain('"key":"endpoints.private"')
  expect((await run('adapters', 'remove', 'build')).code).toBe(0)
}, 60_000)

test('a removed agent takes the consent to its address with it, unless another adapter needs it', async () => {
  const { home, agent, run, place } = await world()
  const consents = (): unknown =>
    (JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')) as { endpoints?: { private?: unknown } }).endpoints
  await run('config', 'set', 'endpoints.private', 'nas.example:8080')
  for (const slug of ['build', 'twin'])
    await run('adapters', 'add', `${agent.url}/${slug}`, '--as', slug, ...SECRET, '--allow-private')
  expect(consents()).toEqual({ private: ['nas.example:8080', place] })

  const first = await run('adapters', 'remove', 'twin', '--json')
  expect(JSON.parse(first.stdout)).toMatchObject({ ok: true, slug: 'twin', consentsRemoved: [] })
  expect(consents()).toEqual({ private: ['nas.example:8080', place] })

  const last = await run('adapters', 'remove', 'build')
  expect(last.stderr).toContain('Removed build. Its agent runs elsewhere and is not touched.')
  expect(last.stderr).toContain(`No other adapter needs ${place}: it is removed from endpoints.private in config.json.`)
  expect(consents()).toEqual({ private: ['nas.example:8080'] })
  const audit = readFileSync(join(home, 'logs/audit.jsonl'), 'utf8')
  expect(audit).toContain('"action":"config-unset"')
  const refused = await run('adapters', 'add', agent.url, '--as', 'build', ...SECRET)
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('--allow-private') })
}, 60_000)

test('the consent to an address goes in whatever notation it is written', async () => {
  const { home, agent, run } = await world()
  await run('adapters', 'add', agent.url, '--as', 'build', ...SECRET, '--allow-private')
  const { port } = new URL(agent.url)
  await run('config', 'set', 'endpoints.private', `127.1:${port}`)
  const removed = await run('adapters', 'remove', 'build', '--json')
  expect(JSON.parse(removed.stdout)).toMatchObject({ consentsRemoved: [`127.1:${port}`] })
  expect(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))).toEqual({})
}, 60_000)

test('without the consent of the owner, a private address is refused before anything is connected to', async () => {
  const { home, agent, run, place } = await world()
  const refused = await run('adapters', 'add', agent.url, '--as', 'build', ...SECRET)
  expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('--allow-private') })
  expect(refused.stderr).toContain(place)
  expect([agent.upgrades, added(home), existsSync(join(home, 'config.json'))]).toEqual([[], [], false])
}, 60_000)

test('an agent that does not shake hands leaves nothing, unless the owner says so', async () => {
  const { home, agent, run } = await world()
  agent.refuses = 401
  const args = ['adapters', 'add', agent.url, '--as', 'build', ...SECRET, '--allow-private']
  const refused = await run(...args)
  expect(refused.code).not.toBe(0)
  expect(refused.stderr).toContain('build-server')
  expect([added(home), existsSync(join(home, 'config.json'))]).toEqual([[], false])
  expect(await run(...args, '--force')).toMatchObject({ code: 0, stdout: 'build\n' })
  const doctor = await run('adapters', 'doctor', 'build')
  expect(doctor.code).toBe(1)
  expect([refused.stderr, doctor.stdout].join('\n')).not.toContain(VALUE)
}, 60_000)

test('an address of http is answered with what it should begin with', async () => {
  const { home, run } = await world()
  const refused = await run('adapters', 'add', 'https://build.example.com/acp/codex', '--as', 'build')
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('wss://') })
  expect(added(home)).toEqual([])
})

test('a redirect is not followed', async () => {
  const { home, agent, run } = await world()
  agent.refuses = 302
  const refused = await run('adapters', 'add', agent.url, '--as', 'build', ...SECRET, '--allow-private')
  expect(refused.code).not.toBe(0)
  expect([agent.upgrades.length, added(home)]).toEqual([1, []])
}, 60_000)

test('a consent is for one host and port: an address that is changed by hand needs another', async () => {
  const { home, agent, run } = await world()
  const other = await startRemoteAgent()
  await run('adapters', 'add', agent.url, '--as', 'build', ...SECRET, '--allow-private')
  const file = join(home, 'adapters/build/AGENT-CLI.md')
  writeFileSync(file, readFileSync(file, 'utf8').replace(agent.url, other.url))
  const doctor = await run('adapters', 'doctor', 'build')
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(new URL(other.url).host) })
  expect(other.upgrades).toEqual([])
}, 60_000)

test('a secret that is not set, or that would begin another header, is named and not sent', async () => {
  const { agent, run, home } = await world()
  const args = ['adapters', 'add', agent.url, '--as', 'build', '--allow-private', '--secret-header']
  const missing = await run(...args, 'authorization=other-server')
  expect(missing).toMatchObject({ code: 4, stderr: expect.stringContaining('agentproto secrets set other-server') })
  await runHere(['secrets', 'set', 'two-lines', '--store', 'file'], { home, input: 'tok-4711\nx-admin: yes' })
  const broken = await run(...args, 'authorization=two-lines')
  expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('two-lines') })
  expect(broken.stderr).not.toContain('4711')
  expect(agent.upgrades).toEqual([])
}, 60_000)

test('nothing but the owner at the home adds one, under a name that is free', async () => {
  const { home, agent, run } = await world()
  const args = ['adapters', 'add', agent.url, '--allow-private', ...SECRET, '--as']
  const env = { AGENTPROTO_URL: 'http://127.0.0.1:1' }
  const remote = await runHere([...args, 'build'], { home, env })
  expect(remote).toMatchObject({ code: 5, stderr: expect.stringContaining('AGENTPROTO_URL') })
  expect(await run(...args, 'demo')).toMatchObject({ code: 2, stderr: expect.stringContaining('Another adapter') })
  expect(await run(...args, '../x')).toMatchObject({ code: 2 })
  expect(await run('adapters', 'add', agent.url)).toMatchObject({ code: 2, stderr: expect.stringContaining('--as') })
  for (const url of ['wss://user:pass-4711@build.example/', 'wss://build.example/?token=tok-4711-4711', 'ws:x']) {
    const refused = await run('adapters', 'add', url, '--as', 'build')
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).not.toContain('4711')
  }
  expect([agent.upgrades, added(home)]).toEqual([[], []])
}, 60_000)

test('an adapter from a folder, or one of a workspace, cannot say where its agent runs', async () => {
  const { home, agent, run } = await world()
  await run('adapters', 'add', agent.url, '--as', 'build', ...SECRET, '--allow-private')
  const own = join(home, 'adapters/build')
  const shop = folder('shop')
  const copy = join(shop, '.agentproto/adapters/mine')
  mkdirSync(copy, { recursive: true })
  const text = readFileSync(join(own, 'AGENT-CLI.md'), 'utf8').replaceAll(/^(name|id): build$/gm, '$1: mine')
  writeFileSync(join(copy, 'AGENT-CLI.md'), text)
  writeFileSync(join(copy, 'ACP.md'), readFileSync(join(own, 'ACP.md')))
  const refused = await run('adapters', 'add', copy)
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('cannot have an endpoint') })
  expect(added(home)).toEqual(['build'])
}, 60_000)

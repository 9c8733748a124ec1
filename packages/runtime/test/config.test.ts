import { once } from 'node:events'
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import type { Principal } from '@agentproto/contracts'
import { demoAgentPath } from '@agentproto/demo-agent'
import type { Gateway, GatewayOptions } from '@agentproto/runtime'
import { DEFAULT_REGISTRY_CONFIG } from '@agentproto/session-registry'
import { expect, onTestFinished, test } from 'vitest'
import { faultyAgent } from './fixtures/faulty-agent.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

/** A gateway whose home holds this config.json. */
async function configured(config: unknown, options: Partial<GatewayOptions> = {}): Promise<Gateway> {
  const home = await temporaryHome()
  await writeFile(join(home, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config))
  return testGateway({ home, ...options })
}

const slugsOf = async ({ adapters }: Gateway): Promise<readonly string[]> =>
  (await adapters.list()).map(({ slug }) => slug)

test('an unknown key refuses the start, with file, line, column and what was meant', async () => {
  const starting = configured('{\n  "durabilty": "disk"\n}\n')
  await expect(starting).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(/config\.json:2:3: .*durabilty.*Did you mean durability\?$/),
  })
})

test('a gateway in memory reads no config.json', async () => {
  expect(await slugsOf(await configured('{', { store: 'memory' }))).toContain('demo')
})

test('sessions.maxSessions bounds the live sessions, and what the embedder gives wins', async () => {
  const bounded = await configured({ sessions: { maxSessions: 1 } })
  await bounded.sessions.spawn({ adapter: 'demo', cwd: bounded.home }, owner)
  await expect(bounded.sessions.spawn({ adapter: 'demo', cwd: bounded.home }, owner)).rejects.toThrow()
  const given = await configured({ sessions: { maxSessions: 1 } }, { sessions: { maxSessions: 2 } })
  await given.sessions.spawn({ adapter: 'demo', cwd: given.home }, owner)
  await given.sessions.spawn({ adapter: 'demo', cwd: given.home }, owner)
})

test('bundledAdapters offers them or not, adapters names further folders', async () => {
  expect(await slugsOf(await configured({ bundledAdapters: true }))).toContain('demo')
  expect(await slugsOf(await configured({ bundledAdapters: false }))).toEqual([])
  const folder = join(await temporaryHome(), 'adapters')
  await mkdir(folder)
  await cp(join(catalogPath, 'demo'), join(folder, 'demo'), { recursive: true })
  expect(await slugsOf(await configured({ bundledAdapters: false, adapters: [folder] }))).toEqual(['demo'])
})

test('executables says where an agent is', async () => {
  const missing = join(await temporaryHome(), 'nothing.mjs')
  const gateway = await configured({ executables: { 'agentproto-demo-agent': missing } })
  await expect(gateway.sessions.spawn({ adapter: 'demo', cwd: gateway.home }, owner)).rejects.toThrow()
  const other = await configured(
    { executables: { 'agentproto-demo-agent': missing } },
    { executables: { 'agentproto-demo-agent': demoAgentPath } },
  )
  await other.sessions.spawn({ adapter: 'demo', cwd: other.home }, owner)
})

test('12.B6 limits.handshakeMs bounds the handshake and limits.openMs the opening, and what the embedder gives wins', async () => {
  const startOf = async (fault: 'mute' | 'never opens', config: object, options = {}): Promise<unknown> => {
    const executables = { 'agentproto-demo-agent': await faultyAgent(await temporaryHome(), fault) }
    const { sessions, home } = await configured(config, { executables, ...options })
    return sessions.spawn({ adapter: 'demo', cwd: home }, owner).catch(String)
  }
  expect(await startOf('mute', { limits: { handshakeMs: 301 } })).toContain('301 ms')
  expect(await startOf('never opens', { limits: { openMs: 302 } })).toContain('302 ms')
  expect(await startOf('mute', { limits: { handshakeMs: 60_000 } }, { limits: { handshakeMs: 303 } })).toContain(
    '303 ms',
  )
})

test('environment and homes say what agents see of the host', async () => {
  const variables = async (config: object): Promise<string> => {
    const { sessions, home } = await configured(config)
    const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, permissionMode: 'approve-all' }, owner)
    const prompt = 'run echo $AGENTPROTO_ENV_POLICY $AGENTPROTO_HOME_POLICY > variables'
    await sessions.waitTurn(id, (await sessions.prompt(id, { prompt }, owner)).turn)
    return readFile(join(home, 'variables'), 'utf8')
  }
  expect(await variables({})).toBe('filtered operator\n')
  expect(await variables({ environment: 'isolated', homes: 'isolated' })).toBe('isolated isolated\n')
})

/** An agent that answers with what its client offers. */
const CURIOUS = `#!/usr/bin/env node
import { createInterface } from 'node:readline'
const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }))
let offered
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') offered = params.clientCapabilities
  const content = { type: 'text', text: JSON.stringify([offered.fs, offered.terminal]) }
  if (method === 'session/prompt')
    send({ method: 'session/update', params: { sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content } } })
  const results = {
    initialize: { protocolVersion: 1, agentCapabilities: {} },
    'session/new': { sessionId: 's' },
    'session/prompt': { stopReason: 'end_turn' },
  }
  if (id !== undefined) send({ id, result: results[method] ?? {} })
})
`

test('serve says what the gateway does for its agents', async () => {
  const folder = await temporaryHome()
  const program = join(folder, 'curious.mjs')
  await writeFile(program, CURIOUS)
  const offered = async (config: object): Promise<unknown> => {
    const { sessions, home } = await configured(config, { executables: { 'agentproto-demo-agent': program } })
    const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'what?' }, owner)
    return JSON.parse((await sessions.waitTurn(id, 1)).text ?? '')
  }
  expect(await offered({})).toEqual([{ readTextFile: false, writeTextFile: false }, false])
  expect(await offered({ serve: { fs: true } })).toEqual([{ readTextFile: true, writeTextFile: true }, false])
  expect(await offered({ serve: { terminal: true } })).toEqual([{ readTextFile: false, writeTextFile: false }, true])
})

test('sandboxProviders names what confines, sandbox refuses what it cannot', async () => {
  const home = await temporaryHome()
  const module = join(home, 'moon.mjs')
  const weak = `{ async prepare(_, { launch }) { return { launch, enforced: false, reason: 'new moon', warnings: [] } } }`
  await writeFile(module, `export default ${weak}\n`)
  const adapter = join(home, 'adapters/demo')
  await cp(join(catalogPath, 'demo'), adapter, { recursive: true })
  const profile = await readFile(join(adapter, 'SANDBOX.md'), 'utf8')
  await writeFile(join(adapter, 'SANDBOX.md'), profile.replace('provider: local', 'provider: moon'))
  const started = async (config: object): Promise<unknown> => {
    const { sessions } = await configured(config, { adapters: [join(home, 'adapters')] })
    const { id } = await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
    return (await sessions.get(id)).sandbox
  }
  const sandboxProviders = { moon: module }
  expect(await started({ sandboxProviders })).toEqual({ provider: 'moon', enforced: false, reason: 'new moon' })
  const refused = started({ sandboxProviders, sandbox: 'refuse' })
  await expect(refused).rejects.toMatchObject({ code: 'sandbox_unavailable' })
})

test('allowedHosts and allowedOrigins let others call', async () => {
  const ask = async (gateway: Gateway): Promise<readonly number[]> => {
    const headers = { authorization: `Bearer ${gateway.token}`, host: 'gateway.example' }
    const origin = { authorization: headers.authorization, host: 'localhost', origin: 'https://app.example' }
    const byHost = await gateway.app.request('/sessions', { headers })
    const byOrigin = await gateway.app.request('/sessions', { headers: origin })
    return [byHost.status, byOrigin.status]
  }
  const [host, origin] = await ask(await configured({}))
  expect([host, origin]).toEqual([403, 403])
  expect(await ask(await configured({ allowedHosts: ['gateway.example'] }))).toEqual([200, 403])
  expect(await ask(await configured({ allowedOrigins: ['https://app.example'] }))).toEqual([403, 200])
})

test('listen says where the gateway listens, and what its caller says wins', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  // What is named is not replaced by a free one.
  await expect((await configured({ listen: { port } })).listen({ orFree: true })).rejects.toMatchObject({
    code: 'listen_failed',
    message: expect.stringContaining(`Cannot listen on 127.0.0.1:${port}`) as string,
  })
  const elsewhere = await (await configured({ listen: { host: 'localhost', port } })).listen({ port: 0 })
  expect(new URL(elsewhere.url)).toMatchObject({ hostname: 'localhost' })
  expect(new URL(elsewhere.url).port).not.toBe(String(port))
  const beyond = { host: '0.0.0.0', port: 0 }
  await expect((await configured({ listen: beyond })).listen()).rejects.toMatchObject({ code: 'listen_failed' })
  const open = { listen: { ...beyond, allowRemote: true } }
  expect(await settingsWith(open)).toMatchObject(open)
})

test('listen.maxConnections bounds the open connections', async () => {
  const { url } = await (await configured({ listen: { port: 0, maxConnections: 16 } })).listen()
  const opened: Socket[] = []
  onTestFinished(() => opened.forEach((socket) => void socket.destroy()))
  for (let made = 0; made < 17; made++) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').resume()
    opened.push(socket)
    await once(socket, 'connect')
  }
  await expect
    .poll(() => opened.map(({ closed }) => closed))
    .toEqual([true, ...Array.from({ length: 16 }, () => false)])
})

test('log.level, log.maxBytes and log.files say what is logged and how much is kept', async () => {
  const logged = async (log: unknown): Promise<readonly string[]> => {
    const gateway = await configured({ log })
    for (let at = 0; at < 12; at++) await gateway.listen({ port: 0 })
    await gateway.close()
    return readdir(join(gateway.home, 'logs')).catch(() => [])
  }
  expect(await logged({ level: 'off' })).toEqual([])
  expect(await logged({ level: 'info' })).toEqual(['gateway.jsonl'])
  expect(await logged({ maxBytes: 1_024 })).toContain('gateway.jsonl.1')
  expect(await logged({ maxBytes: 1_024, files: 1 })).toEqual(['gateway.jsonl'])
})

test('durability is what the log is opened with', async () => {
  const { durability } = await settingsWith({ durability: 'disk' })
  expect(durability).toBe('disk')
})

/** What the gateway would be made of: a power cut is not at hand. */
async function settingsWith(config: unknown): Promise<GatewayOptions> {
  const { settingsOf } = await import('../src/settings.js')
  const home = await temporaryHome()
  await writeFile(join(home, 'config.json'), JSON.stringify(config))
  return settingsOf({ home })
}

interface Part {
  readonly description?: string
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Part>>
}

const fileOf = (path: string): Promise<string> => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8')

test('docs/configuration.md has each key of the schema, with its default and its words', async () => {
  const { properties } = JSON.parse(await fileOf('schemas/config.schema.json')) as { properties: Record<string, Part> }
  const rowsOf = (parts: Readonly<Record<string, Part>>, above = ''): (readonly [string, Part])[] =>
    Object.entries(parts).flatMap(([key, part]) =>
      part.properties === undefined ? [[above + key, part] as const] : rowsOf(part.properties, `${above}${key}.`),
    )
  const rows = rowsOf(properties)
  const expected = rows
    .filter(([key]) => key !== '$schema')
    .map(([key, part]) => {
      const fallback = part.default === undefined ? '–' : `\`${JSON.stringify(part.default)}\``
      return `| \`${key}\` | ${fallback} | ${part.description} |`
    })
  const page = await fileOf('docs/configuration.md')
  expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual(expected)
})

test('the schema has the keys of the registry, with their defaults', async () => {
  const schema = JSON.parse(await fileOf('schemas/config.schema.json')) as {
    properties: { sessions: { properties: Record<string, { default: number }> } }
  }
  const defaults = Object.entries(schema.properties.sessions.properties).map(([key, part]) => [key, part.default])
  expect(Object.fromEntries(defaults)).toEqual(DEFAULT_REGISTRY_CONFIG)
})

import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@agentproto/client'
import { expect, test } from 'vitest'
import { type Daemon, startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

// A secret that a session uses is in its agent's environment and in its store, and nowhere else.

const CLI = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))
const LEAKY = fileURLToPath(new URL('fixtures/leaky-agent.mjs', import.meta.url))
const VALUE = 'sk-demo-4711"\\wörd'
/** What is looked for: it is the same in the value's every form. */
const TRACE = 'sk-demo-4711'
const SLUG = 'demo-token'

interface Ground extends Daemon {
  readonly home: string
  readonly cwd: string
}

/** A gateway whose home has the secret, set as a person would, and an agent that tells all it knows. */
async function start(): Promise<Ground> {
  const home = temporaryFolder('home')
  const AGENTPROTO_HOME = join(home, '.agentproto')
  addLeakyAgent(AGENTPROTO_HOME)
  const set = spawnSync(process.execPath, [CLI, 'secrets', 'set', SLUG, '--store', 'file'], {
    input: `${VALUE}\n`,
    encoding: 'utf8',
    env: { ...process.env, HOME: home, AGENTPROTO_HOME },
  })
  expect(set).toMatchObject({ status: 0, stdout: '', stderr: expect.stringContaining('is set') })
  return { ...(await startDaemon({ home })), home, cwd: temporaryFolder('cwd') }
}

function addLeakyAgent(home: string): void {
  const folder = join(home, 'adapters', 'leaky')
  mkdirSync(folder, { recursive: true })
  const manifest = {
    name: 'leaky',
    id: 'leaky',
    description: 'Tells its secret wherever it can.',
    version: '1.0.0',
    bin: LEAKY,
    install: [{ method: 'vendored', path: './agent' }],
    version_check: { cmd: 'true', parse: '(.*)', range: '*' },
    auth: { ref: './SECRETS.md' },
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
  }
  const exposures = [{ kind: 'env', name: 'LEAKY_TOKEN' }]
  const secrets = [{ slug: SLUG, name: 'Token', description: 'A token', exposures }]
  const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'basic' }
  const acp = { ...manifest, kind: 'client', transport: 'stdio', metadata: { aip44 } }
  writeFileSync(join(folder, 'AGENT-CLI.md'), `---\n${JSON.stringify(manifest)}\n---\n`)
  writeFileSync(join(folder, 'SECRETS.md'), `---\n${JSON.stringify({ secrets })}\n---\n`)
  writeFileSync(join(folder, 'ACP.md'), `---\n${JSON.stringify(acp)}\n---\n`)
}

/** Every file below a folder that holds the trace. */
function filesWithTrace(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => readFileSync(path).includes(TRACE))
}

/** Every process of this host whose arguments hold it. */
function processesWithTrace(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`).includes(TRACE)
    } catch {
      return false
    }
  })
}

/** All that the gateway answers about a session, as text. */
async function answersAbout({ url, token }: Daemon, id: string): Promise<string> {
  const paths = ['', '/events?limit=10000', '/output?lastN=2000', '/turns', '/requests'].map(
    (path) => `/sessions/${id}${path}`,
  )
  const all = [...paths, '/sessions', '/requests', '/adapters/demo', '/adapters/demo/state', '/secrets', '/health']
  const texts = await Promise.all(
    all.map(async (path) => (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).text()),
  )
  return texts.join('\n')
}

async function say(client: Client, id: string, prompt: string): Promise<string> {
  return (await client.sessions.promptAndWait(id, { prompt })).text
}

const isLinux = process.platform === 'linux'

test.runIf(isLinux)(
  'a secret that a session uses is in no file but its store, in no argument, log, event or answer',
  async () => {
    const ground = await start()
    const { client, cwd, home } = ground
    const { id } = await client.sessions.start({ adapter: 'demo', cwd, permissionMode: 'approve-all' })
    // The agent has it, whole: it can tell its length and its end.
    await say(client, id, 'run printf %s "$AGENTPROTO_DEMO_TOKEN" | wc -m > length.txt')
    expect(readFileSync(join(cwd, 'length.txt'), 'utf8').trim()).toBe(String(VALUE.length))
    const during = processesWithTrace()
    const answers = await answersAbout(ground, id)
    await client.sessions.kill(id)
    expect(during).toEqual([])
    expect(answers).not.toContain(TRACE)
    expect(ground.printed()).not.toContain(TRACE)
    const store = join(home, '.agentproto', 'secrets.json')
    expect(filesWithTrace(home)).toEqual([store])
    expect(statSync(store).mode & 0o777).toBe(0o600)
    expect(filesWithTrace(cwd)).toEqual([])
  },
)

test('an agent that tells its secret wherever it can, and a person who types it, give nothing away', async () => {
  const ground = await start()
  const { client, cwd, home } = ground
  const { id } = await client.sessions.start({ adapter: 'leaky', cwd, prompt: `my key is ${VALUE}, please` })
  await client.sessions.waitTurn(id, 1)
  const answers = await answersAbout(ground, id)
  expect(answers).toContain('my key is [redacted], please')
  expect(answers).toContain('stderr tells [redacted]')
  expect(answers).toContain('I think of [redacted]')
  expect(answers).toContain('Authorization: Bearer [redacted]')
  // Said letter by letter, it is whole only in the end.
  expect((await client.sessions.promptAndWait(id, { prompt: 'again' })).text).toBe('[redacted]')
  await client.sessions.prompt(id, { prompt: 'crash' })
  await expect.poll(async () => (await client.sessions.get(id)).status).toBe('error')
  const { failure } = await client.sessions.get(id)
  expect(readFileSync(failure?.crashBundlePath ?? '', 'utf8')).toContain('stderr tells [redacted]')
  for (const text of [answers, await answersAbout(ground, id), ground.printed()]) expect(text).not.toContain(TRACE)
  expect(filesWithTrace(home)).toEqual([join(home, '.agentproto', 'secrets.json')])
})

test('no command prints a value', async () => {
  const { home, client, url, token } = await start()
  const cwd = temporaryFolder('cwd')
  const env = { ...process.env, HOME: home, AGENTPROTO_HOME: join(home, '.agentproto') }
  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, [CLI, ...args], { encoding: 'utf8', env, cwd })
  const lists = [run('secrets', 'list'), run('secrets', 'list', '--json'), run('adapters', 'show', 'demo', '--json')]
  for (const { status, stdout, stderr } of lists) {
    expect([status, stdout.includes(SLUG), `${stdout}${stderr}`.includes(TRACE)]).toEqual([0, true, false])
  }
  expect(await client.adapters.secrets()).toContainEqual(
    expect.objectContaining({ slug: SLUG, set: true, place: 'file' }),
  )
  expect(
    await (await fetch(`${url}/secrets/${SLUG}`, { headers: { authorization: `Bearer ${token}` } })).text(),
  ).toContain('route_not_found')
  expect(run('secrets', 'rm', SLUG)).toMatchObject({ status: 0, stdout: '' })
  expect(filesWithTrace(home)).toEqual([])
})

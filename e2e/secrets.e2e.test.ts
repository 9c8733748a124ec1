import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@agentproto/client'
import { expect, test } from 'vitest'
import { type Daemon, startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

// A secret of a session is in the environment of its agent and in its store, and nowhere else.

const CLI = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))
const LEAKY = fileURLToPath(new URL('fixtures/leaky-agent.mjs', import.meta.url))
const VALUE = 'sk-demo-4711"\\wörd'
/** The text to search for, which is the same in every form of the value. */
const TRACE = 'sk-demo-4711'
const SLUG = 'demo-token'

interface Ground extends Daemon {
  readonly home: string
  readonly cwd: string
}

/** A gateway whose home has the secret, set with the command line, and an agent that prints all it knows. */
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

/** @param names Variables by the slugs of their secrets */
function addLeakyAgent(home: string, names: Readonly<Record<string, string>> = { [SLUG]: 'LEAKY_TOKEN' }): void {
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
  const secrets = Object.entries(names).map(([slug, name]) => {
    return { slug, name: 'Token', description: 'A token', exposures: [{ kind: 'env', name }] }
  })
  const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'basic' }
  const acp = { ...manifest, kind: 'client', transport: 'stdio', metadata: { aip44 } }
  writeFileSync(join(folder, 'AGENT-CLI.md'), `---\n${JSON.stringify(manifest)}\n---\n`)
  writeFileSync(join(folder, 'SECRETS.md'), `---\n${JSON.stringify({ secrets })}\n---\n`)
  writeFileSync(join(folder, 'ACP.md'), `---\n${JSON.stringify(acp)}\n---\n`)
}

/** Every file in a folder that contains the text. */
function filesWithTrace(folder: string, trace = TRACE): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map((entry) => join(entry.parentPath, entry.name)).filter((path) => holds(path, trace))
}

/** A file that is replaced meanwhile is read again. */
function holds(path: string, trace: string): boolean {
  try {
    return readFileSync(path).includes(trace)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw thrown
  }
}

/** Every process whose arguments contain it. */
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

/** Every response of the gateway about a session, as text. */
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

test(
  'a secret of a session is in no file but its store, and in no argument, log, event or response',
  needs('linux'),
  async () => {
    const setup = await start()
    const { client, cwd, home } = setup
    const { id } = await client.sessions.start({ adapter: 'demo', cwd, permissionMode: 'approve-all' })
    // The agent has the whole value: it prints the length and the end.
    await say(client, id, 'run printf %s "$AGENTPROTO_DEMO_TOKEN" | wc -m > length.txt')
    expect(readFileSync(join(cwd, 'length.txt'), 'utf8').trim()).toBe(String(VALUE.length))
    const during = processesWithTrace()
    const answers = await answersAbout(setup, id)
    await client.sessions.kill(id)
    expect(during).toEqual([])
    expect(answers).not.toContain(TRACE)
    expect(setup.printed()).not.toContain(TRACE)
    const store = join(home, '.agentproto', 'secrets.json')
    expect(filesWithTrace(home)).toEqual([store])
    expect(statSync(store).mode & 0o777).toBe(0o600)
    expect(filesWithTrace(cwd)).toEqual([])
  },
)

test('the secret is redacted when an agent prints it in any way, and when a user types it', async () => {
  const setup = await start()
  const { client, cwd, home } = setup
  const { id } = await client.sessions.start({ adapter: 'leaky', cwd, prompt: `my key is ${VALUE}, please` })
  await client.sessions.waitTurn(id, 1)
  const answers = await answersAbout(setup, id)
  expect(answers).toContain('my key is [redacted], please')
  expect(answers).toContain('stderr has [redacted]')
  expect(answers).toContain('I think of [redacted]')
  expect(answers).toContain('Authorization: Bearer [redacted]')
  // Printed letter by letter, it is held back from its third letter on, and is complete only at the end.
  expect((await client.sessions.promptAndWait(id, { prompt: 'again' })).text).toBe(`${VALUE.slice(0, 2)}[redacted]`)
  await client.sessions.prompt(id, { prompt: 'crash' })
  await expect.poll(async () => (await client.sessions.get(id)).status).toBe('exited')
  const { failure } = await client.sessions.get(id)
  expect(readFileSync(failure?.crashBundlePath ?? '', 'utf8')).toContain('stderr has [redacted]')
  for (const text of [answers, await answersAbout(setup, id), setup.printed()]) expect(text).not.toContain(TRACE)
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

/** The middle of each of them, the same in every form. */
const core = (kind: number): string => `Zq${String(kind).padStart(2, '0')}x7Kp2vN9`

/** In the form of real ones, assembled here so that scanners do not report them. */
const KINDS: readonly ((middle: string) => string)[] = [
  (m) => `sk-proj-${m}-aB3dE5fG7h`,
  (m) => `sk-ant-api03-${m}_aB3-AA`,
  (m) => `AIza${m}SyD-9tSrke72PouQMnM`,
  (m) => `gsk_${m}WGdyb3FYa`,
  (m) => `hf_${m}aBcDeFgHiJ`,
  (m) => `r8_${m}aBcDeFgHiJ`,
  (m) => `xai-${m}aBcDeFgHiJ`,
  (m) => `pplx-${m}0123456789abcdef`,
  (m) => `sk-or-v1-${m}0123456789abcdef`,
  (m) => `ghp_${m}aBcDeFgHiJkLmNoPqR`,
  (m) => `github_pat_11ABC_${m}aBcDeF`,
  (m) => `glpat-${m}-aBcDeF`,
  (m) => `npm_${m}aBcDeFgHiJkLmNoP`,
  (m) => `pypi-AgEIcHlwaS5vcmc${m}`,
  (m) => `xoxb-1234567890-${m}-aBcDeF`,
  (m) => `AKIA${m}EXAMPLE`,
  (m) => `wJalrXUtnFEMI/K7MDENG/${m}+bPxRfiCY==`,
  (m) => `sk_live_${m}aBcDeFgHiJkL`,
  (m) => `SG.${m}.aBcDeFgHiJ-kLmNoPqRs_TuVwXyZ`,
  (m) => `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx${m}In0.c2lnbmF0dXJl-x_y`,
  (m) => `Basic dXNlcjpw${m}YXNz==`,
  (m) => `postgres://user:p%40ss${m}@db.example:5432/shop?sslmode=require`,
  (m) => `-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG${m}\n${m}AoIBAQC7\n-----END KEY-----\n`,
  (m) => `{"type":"service_account","private_key_id":"${m}"}`,
  (m) => `pa"ss\\${m}'word\t$(x)`,
  (m) => `correct horse ${m} battery staple`,
  (m) => `Pässwört-${m}-密码🔑`,
  (m) => `deadbeef${m}cafebabe0123456789`,
  (m) => `https://hooks.example/services/T000/B000/${m}?a=1&b=2`,
  (m) => `session=${m}%3D%3D; Path=/; HttpOnly`,
]

test('thirty kinds of secret, printed by an agent in any way, are in no response, no log and no file', async () => {
  const home = temporaryFolder('home')
  const names = Object.fromEntries(KINDS.map((_, at) => [`kind-${at}`, `LEAKY_${at}`]))
  addLeakyAgent(join(home, '.agentproto'), names)
  const env = Object.fromEntries(KINDS.map((kind, at) => [`LEAKY_${at}`, kind(core(at))]))
  const daemon = await startDaemon({ home, env })
  const { id } = await daemon.client.sessions.start({ adapter: 'leaky', cwd: temporaryFolder('cwd') })
  await daemon.client.sessions.promptAndWait(id, { prompt: Object.values(env).join('\n') })
  await daemon.client.sessions.prompt(id, { prompt: 'crash' })
  await expect.poll(async () => (await daemon.client.sessions.get(id)).status).toBe('exited')
  const texts = [await answersAbout(daemon, id), daemon.printed()].join('\n')
  expect(texts.match(/stderr has \[redacted\]/g)?.length).toBeGreaterThanOrEqual(KINDS.length)
  const found = KINDS.flatMap((kind, at) => {
    const places = [...(texts.includes(core(at)) ? ['an answer'] : []), ...filesWithTrace(home, core(at))]
    return places.map((place) => `${kind('…')} in ${place}`)
  })
  expect(found).toEqual([])
})

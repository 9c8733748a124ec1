import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { cli, folder, type Ended } from './cli-process.js'
import { gatewayWorld, type GatewayWorld } from './gateway-world.js'
import { namedStep, shellWords } from './named-step.js'
import { ownAgent } from './own-agent.js'
import { runHere } from './run-here.js'

// Wrong commands, and what each message names. The test runs what is named, and that works.

interface Row {
  readonly given: string
  /** The command that the message names; `*` is an id. */
  readonly names: string
  /** Prepares the session `own` of the row. */
  readonly prepare?: (start: (...args: readonly string[]) => Promise<void>, world: GatewayWorld) => Promise<void>
  /** Standard input of the named command. */
  readonly input?: string
}

const row = (given: string, names: string, more: Omit<Row, 'given' | 'names'> = {}): Row => ({ given, names, ...more })

const ending: Row['prepare'] = async (start, { run }) => {
  await start()
  await run(['sessions', 'kill', 'own'])
}
const asking: Row['prepare'] = async (start, { run }) => {
  await start('-p', 'ask x.txt hello')
  const shown = async (): Promise<unknown> => JSON.parse((await run(['sessions', 'show', 'own', '--json'])).stdout)
  await expect.poll(shown).toMatchObject({ pendingRequests: 1 })
}
const slow: Row['prepare'] = (start) => start('-p', 'late 500')
const idle: Row['prepare'] = (start) => start()

const ROWS: readonly Row[] = [
  // Typing errors.
  row('sesions', 'sessions'),
  row('sessoins --json', 'sessions --json'),
  row('sessions shwo try', 'sessions show try'),
  row('sessions strat demo', 'sessions start demo'),
  row('sesions strat demo --labl x', 'sessions start demo --label x'),
  row('statsu', 'status'),
  row('wrokspace list', 'workspace list'),
  row('workspace lst', 'workspace list'),
  row('adapters lsit', 'adapters list'),
  row('config gte durability', 'config get durability'),
  row('tokn list', 'token list'),
  row('permissions lst', 'permissions list'),
  row('secrets lits', 'secrets list'),
  row('verison', 'version'),
  row('sessions difff try', 'sessions diff try'),
  row('sessions evnts try', 'sessions events try'),
  row('sessions lgos try', 'sessions logs try'),
  row('usge', 'usage'),
  row('completoin bash', 'completion bash'),
  row('manifest shema agent-cli', 'manifest schema agent-cli'),
  row('frobnicate', '--help'),
  row('frobnicate --help', '--help'),
  row('help frobnicate', '--help'),
  row('sessions frobnicate', 'sessions --help'),
  row('sessions strat', 'sessions start --help'),

  // Words in another order.
  row('list sessions', 'sessions list'),
  row('list adapters', 'adapters list'),
  row('list workspace', 'workspace list'),
  row('show session try', 'sessions show try'),
  row('sessions try show', 'sessions show try'),
  row('try show', 'sessions show try'),
  row('try diff', 'sessions diff try'),
  row('demo run hello', 'run demo hello'),
  row('--json sessions', 'sessions --json'),

  // Words that other tools have.
  row('stop own', 'sessions kill own', { prepare: idle }),
  row('sessions stop own', 'sessions interrupt own', { prepare: idle }),
  row('sessions cancel try', 'sessions interrupt try'),
  row('end own', 'sessions kill own', { prepare: idle }),
  row('status try', 'sessions show try'),
  row('logs try', 'sessions logs try'),
  row('tail try', 'sessions logs try'),
  row('models try', 'sessions config try'),
  row('pause try', 'sessions interrupt try'),
  row('approve own', 'sessions answer own --allow', { prepare: asking }),
  row('deny own', 'sessions answer own --deny', { prepare: asking }),
  row('adapters list demo', 'adapters show demo'),
  row('workspace list shop', 'workspace show shop'),
  row('config list durability', 'config get durability'),
  row('health', 'status'),
  row('cost', 'usage'),
  row('restart own', 'sessions resume own', { prepare: ending }),
  row('upgrade', 'restart --help'),
  row('trust shop', 'workspace trust shop'),
  row('chat', 'sessions start demo --attach'),

  // Options and values.
  row('run demo --prmpt hello', 'run demo --prompt hello'),
  row('run demo hello --quiet', 'run demo hello --output quiet'),
  row('run demo hello --format=json', 'run demo hello --json'),
  row('run demo hello --permissions aprove-all', 'run demo hello --permissions approve-all'),
  row('run demo hello --timeout soon', 'run --help'),
  row('run demo fix it', 'run demo "fix it"'),
  row('sessions --jsn', 'sessions --json'),
  row('sessions --state wating', 'sessions --state waiting'),
  row('sessions start demo --name x', 'sessions start demo --label x'),
  row('sessions start demo -label x', 'sessions start demo --label x'),
  row('sessions start demo --dir .', 'sessions start demo --cwd .'),
  row('sessions start demo fix it', 'sessions start demo --prompt "fix it"'),
  row('sessions start demo -o model', 'sessions start --help'),
  row('sessions prompt try fix the bug', 'sessions prompt try "fix the bug"'),
  row('sessions logs try --tail 5', 'sessions logs try --lines 5'),
  row('sessions diff try --stats', 'sessions diff try --stat'),
  row('usage --by sesion', 'usage --by session'),
  row('completion bsh', 'completion bash'),
  row('serve --port 99999', 'serve --help'),
  row('sessions answer try --allow --deny', 'sessions answer --help'),

  // Missing arguments.
  row('sessions show', 'sessions'),
  row('sessions start', 'adapters list'),
  row('sessions prompt try', 'sessions prompt --help'),
  row('sessions prompt try ""', 'sessions prompt try hello'),
  row('run', 'adapters list'),
  row('run demo', 'run demo --prompt hello'),
  row('workspace use', 'workspace list'),
  row('config get', 'config list'),
  row('secrets rm', 'secrets list'),
  row('secrets set acme/key', 'secrets set acme/key', { input: 'value' }),
  row('adapters show', 'adapters list'),
  row('token create', 'token create --help'),
  row('sessions prune', 'sessions prune --help'),
  row('permissions allow', 'permissions allow --help'),
  row('sessions rename try', 'sessions rename --help'),
  row('sessions rewind try', 'sessions rewind --help'),

  // Names that do not exist.
  row('sessions show trry', 'sessions show try'),
  row('sessions prompt trry hello --wait', 'sessions prompt try hello --wait'),
  row('sessions show nothing', 'sessions'),
  row('sessions show s_', 'sessions', { prepare: idle }),
  row('workspace use shpo', 'workspace use shop'),
  row('workspace show nope', 'workspace list'),
  row('sessions start demo --workspace shpo', 'sessions start demo --workspace shop'),
  row('sessions start demo --workspace nope', 'workspace list'),
  row('sessions start demoo', 'sessions start demo'),
  row('run dmeo hello', 'run demo hello'),
  row('adapters show nope', 'adapters list'),
  row('adapters remove demo', 'adapters list --json'),
  row('config get durabilty', 'config get durability'),
  row('config set durabilty disk', 'config set durability disk'),
  row('config set durability sometimes', 'config get durability'),
  row('token revoke nope', 'token list'),
  row('secrets rm nope', 'secrets list'),
  row('permissions remove nope', 'permissions list'),

  // Files and folders.
  row('sessions start demo --cwd missing', 'sessions start --help'),
  row('sessions start demo --cwd notes.txt', 'sessions start --help'),
  row('sessions start demo --instructions @missing.md', 'sessions start --help'),
  row('sessions start demo --worktree fix', 'sessions start demo'),
  row('sessions start demo --base main', 'sessions start --help'),
  row('sessions export try --output notes.txt', 'sessions export --help'),
  row('sessions import missing.json', 'sessions import --help'),
  row('workspace add missing', 'workspace add --help'),
  row('workspace add .', 'workspace use shop'),
  row('adapters add missing', 'adapters add --help'),

  // What the state of a session does not allow.
  row('sessions prompt own hello', 'sessions resume own', { prepare: ending }),
  row('sessions config own --mode plan', 'sessions resume *', { prepare: ending }),
  row('sessions discard own', 'sessions show own', { prepare: ending }),
  row('sessions prompt own hello', 'sessions wait own', { prepare: slow }),
  row('sessions fork own', 'sessions wait own', { prepare: slow }),
  row('sessions wait own --timeout 0.1', 'sessions interrupt *', { prepare: slow }),
  row('sessions wait own', 'sessions prompt * …', { prepare: idle }),
  row('sessions wait try --turn 99', 'sessions wait * --turn *'),
  row('sessions repair own', 'sessions kill own', { prepare: idle }),
  row('sessions resume try', 'sessions show try'),
  row('sessions merge try', 'sessions show try'),
  row('sessions answer try --allow', 'sessions show try'),
  row('sessions answer own', 'sessions answer --help', { prepare: asking }),
  row('sessions answer own --option nope', 'sessions answer --help', { prepare: asking }),
  row('sessions answer own --content {', 'sessions answer --help', { prepare: asking }),
  row('sessions diff try --turn 99', 'sessions diff try'),
  row('sessions rewind try --turn 99', 'sessions diff try'),
  row('sessions config try --mode nope', 'sessions config try'),
  row('sessions start demo --mode nope', 'adapters show demo'),
  row('sessions start demo -o nope=1', 'adapters show demo'),
  row('sessions rename own --label try', 'sessions', { prepare: idle }),
]

let world: GatewayWorld

beforeAll(async () => {
  world = await gatewayWorld()
  await world.run([
    'sessions',
    'start',
    'demo',
    '--label',
    'try',
    '-p',
    'write a.txt hi',
    '--permissions',
    'approve-all',
  ])
  await world.run(['sessions', 'wait', 'try'])
})
afterAll(() => world.close())

test('14.4 the table has a hundred wrong commands', () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(100)
})

test.each(ROWS)('14.4 $given names $names, which works', async ({ given, names, prepare, input }) => {
  const { run } = world
  await prepare?.(startOwn, world)
  try {
    const wrong = await run(shellWords(given))
    const named = failedWith(wrong)
    expect({ named: named.join(' '), stderr: wrong.stderr }).toEqual({
      named: expect.stringMatching(pattern(names)) as string,
      stderr: wrong.stderr,
    })
    const works = await run(named, input === undefined ? {} : { input })
    expect({ named, ...works }).toMatchObject({ code: 0 })
    if (named.includes('start') && !named.includes('--help')) await run(['sessions', 'rm', works.stdout.trim()])
  } finally {
    if (prepare !== undefined) await run(['sessions', 'rm', 'own'])
  }
})

async function startOwn(...args: readonly string[]): Promise<void> {
  const started = await world.run(['sessions', 'start', 'demo', '--label', 'own', ...args])
  expect(started).toMatchObject({ code: 0 })
}

/** The command that a failure names. */
function failedWith({ code, stdout, stderr }: Ended): readonly string[] {
  expect({ code, stdout, stderr }).not.toMatchObject({ code: 0 })
  const step = namedStep(messageOf(stderr))
  expect(step, stderr).toHaveProperty('command')
  return step !== undefined && 'command' in step ? step.command : []
}

/** With `--json` a failure is a document. */
const messageOf = (stderr: string): string =>
  stderr.startsWith('{') ? (JSON.parse(stderr) as { detail: string }).detail : stderr

const pattern = (names: string): RegExp =>
  new RegExp(`^${shellWords(names).join(' ').replaceAll('.', '\\.').replaceAll('*', '\\w+')}$`)

test.each([
  ['an address where nothing answers', { AGENTPROTO_URL: 'localhost:1' }, 'AGENTPROTO_URL'],
  ['what is no address', { AGENTPROTO_URL: 'ftp://localhost' }, 'AGENTPROTO_URL'],
  ['an address with a password', { AGENTPROTO_URL: 'http://me:secret@localhost:1' }, 'AGENTPROTO_URL'],
  ['a wrong token', { AGENTPROTO_TOKEN: 'wrong' }, 'AGENTPROTO_TOKEN'],
])('14.4 %s in the environment names the variable, without which it works', async (_what, env, name) => {
  const wrong = await world.run(['sessions'], { env })
  expect(wrong).toMatchObject({ stdout: '', stderr: expect.not.stringContaining('secret') as string })
  expect(namedStep(wrong.stderr)).toEqual({ unset: name })
  expect(await world.run(['sessions'], { env: { ...env, [name]: '' } })).toMatchObject({ code: 0 })
})

test.each(['/', '/team'])(
  '14.3.2 AGENTPROTO_URL=localhost:<port> works; with a path (%s) as the gateway has it',
  async (end) => {
    const { port } = new URL(world.url)
    const { code } = await world.run(['sessions'], { env: { AGENTPROTO_URL: `localhost:${port}${end}` } })
    expect(code === 0).toBe(end === '/')
  },
)

test.each([{}, { AGENTPROTO_TOKEN: 'wrong' }])(
  '14.4 without a known token (%j) a gateway elsewhere names the command that creates one, which works',
  async (token) => {
    const home = folder()
    const at = { AGENTPROTO_URL: world.url }
    const wrong = await runHere(['sessions'], { home, env: { ...at, ...token } })
    expect(wrong).toMatchObject({ code: 5, stderr: expect.stringContaining('AGENTPROTO_TOKEN') as string })
    const command = failedWith(wrong).map((word) => (word === '<name>' ? `ci-${Object.keys(token).length}` : word))
    const created = await world.run(command)
    expect(created).toMatchObject({ code: 0 })
    const env = { ...at, AGENTPROTO_TOKEN: created.stdout.trim() }
    expect(await runHere(['sessions'], { home, env })).toMatchObject({ code: 0 })
  },
)

test.each([['sessions'], ['status'], ['sessions show try']])(
  '14.4 %s without a gateway names how to start one, which works',
  async (given) => {
    const home = folder()
    onTestFinished(async () => void (await cli(['stop'], { home })))
    const command = failedWith(await runHere(shellWords(given), { home }))
    expect(command).toEqual(['serve', '--detach'])
    expect(await cli(command, { home })).toMatchObject({ code: 0 })
    expect((await runHere(['sessions'], { home })).code).toBe(0)
  },
)

test('14.4 an agent that is not installed, and one that crashed and has no memory, name what works', async () => {
  const { home, run } = world
  await ownAgent(home)
  mkdirSync(join(home, 'own'))
  const start = ['sessions', 'start', 'own', '--label', 'forgets']
  // A start that failed leaves an ended session, with its label.
  const install = failedWith(await run(['sessions', 'start', 'own']))
  expect(install).toEqual(['adapters', 'install', 'own'])
  expect(await run(install)).toMatchObject({ code: 0 })
  expect(await run(['run', 'ow', 'hello'])).toMatchObject({
    stderr: expect.stringContaining('run own hello?') as string,
  })
  expect(await run(start)).toMatchObject({ code: 0 })
  await run(['sessions', 'prompt', 'forgets', 'crash', '--wait'])
  const status = async (): Promise<unknown> => JSON.parse((await run(['sessions', 'show', 'forgets', '--json'])).stdout)
  // It has ended only when all its processes have.
  await expect.poll(status).not.toMatchObject({ status: 'running' })
  const prompt = ['sessions', 'prompt', 'forgets', 'hello', '--wait']
  const again = failedWith(await run(prompt))
  expect(again).toEqual(['sessions', 'resume', 'forgets', '--fresh'])
  expect(await run(again)).toMatchObject({ code: 0, stderr: expect.stringContaining('new conversation') as string })
  expect(await run(prompt)).toMatchObject({ code: 0, stdout: 'echo: hello\n' })
})

test('14.3.2 run claude names the agent of the catalogue, and that one how to install it', async () => {
  const near = failedWith(await world.run(['run', 'claude', 'hello']))
  expect(near).toEqual(['run', 'claude-code', 'hello'])
  const { stderr } = await world.run(['sessions', 'start', 'claude-code'], { env: { PATH: '/nonexistent' } })
  expect(stderr === '' || stderr.includes('adapters install claude-code') || stderr.includes('it runs in')).toBe(true)
})

test('14.3.3 an imported session names a new one, and not --fresh', async () => {
  const { home, run } = world
  const file = join(home, 'try.jsonl')
  await run(['sessions', 'export', 'try', '--output', file])
  const imported = (await run(['sessions', 'import', file])).stdout.trim()
  expect(imported).toMatch(/^s_/)
  for (const words of [
    ['prompt', imported, 'hello'],
    ['resume', imported],
    ['resume', imported, '--fresh'],
  ]) {
    const command = failedWith(await run(['sessions', ...words]))
    expect(command).toEqual(['sessions', 'start', 'demo'])
    const started = await run(command)
    expect(started).toMatchObject({ code: 0 })
    await run(['sessions', 'rm', started.stdout.trim()])
  }
})

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { release } from 'node:os'
import { promisify } from 'node:util'
import { defined } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import { openAdapters } from '../adapters/open-adapters.js'
import type { CliContext } from '../cli-context.js'
import { readConfigFile } from '../config/config-file.js'
import { connect } from '../daemon/connect.js'
import { daemonProcess } from '../daemon/daemon-process.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { version } from '../version.js'
import { checkEngines } from './agent-engines.js'
import { byteCount } from './byte-count.js'
import { checkClock } from './clock.js'
import type { Finding } from './finding.js'
import { type FolderSize, folderSize } from './folder-size.js'
import { checkHome, existingFolder } from './home-access.js'
import { checkFleet } from './cluster.js'
import { checkFormat, isKnownFormat } from './home-format.js'
import { checkKeeper } from './keeper.js'
import { checkLeftovers } from './leftovers.js'
import { checkWorktrees } from './worktrees.js'

const GIB = 1024 ** 3
const VERSION_MS = 10_000
const DEFAULT_PORT = 7646
/** Checks of what is in the home. */
const OF_HOME = new Set([
  'permissions',
  'config',
  'worktrees',
  'checkpoints',
  'sizes',
  'leftovers',
  'clock',
  'keeper',
  'cluster',
])

/** Every check of `agentproto doctor`: the machine, the home, the gateway and the agents. None changes anything. */
export async function runChecks(context: CliContext): Promise<readonly DoctorCheck[]> {
  const home = homeOf(context)
  const hasHome = existsSync(home.root)
  // Of a home in another format, only that is reported: what its files mean is not known.
  const isKnown = await isKnownFormat(home)
  const checks: Check[] = [
    ['node', 'Node', () => ok(`${process.version} on ${process.platform} ${release()}`)],
    ['git', 'git', () => checkGit(context)],
    ['disk', 'disk', () => checkDisk(home.root)],
    ['port', 'port', () => checkPort(home)],
    ['home', 'home', () => checkHome(home)],
    ['format', 'home format', () => checkFormat(home)],
    ['permissions', 'permissions', () => checkPermissions(home)],
    ['config', 'config.json', () => checkConfig(home.config), `Fix ${home.config}; no gateway starts with it`],
    ['worktrees', 'worktrees', () => checkWorktrees(home)],
    ['checkpoints', 'checkpoints', () => checkCheckpoints(home)],
    ['sizes', 'sizes', () => checkSizes(home)],
    ['leftovers', 'leftovers', () => checkLeftovers(home)],
    ['clock', 'clock', () => checkClock(home)],
    ['daemon', 'gateway', () => checkDaemon(context), 'Kill it with: agentproto stop --force'],
    ['keeper', 'keeper', () => checkKeeper(home)],
    ['cluster', 'fleet', () => checkFleet(context, home)],
    ['adapters', 'agents', () => checkAdapters(context), 'See more with: agentproto adapters list'],
    ['engines', 'Node of agents', async () => checkEngines(await openAdapters(context))],
  ]
  const results: DoctorCheck[] = []
  const applies = (id: string): boolean => (OF_HOME.has(id) ? hasHome && isKnown : hasHome || id !== 'format')
  for (const check of checks) if (applies(check[0])) results.push(await resultOf(check))
  return results
}

/** Id, title, the check itself, and what to do when it throws. */
type Check = readonly [id: string, title: string, find: () => Finding | Promise<Finding>, hint?: string]

/** Runs one check. When it throws, the check fails with the error's message and the hint. */
async function resultOf([id, title, find, hint]: Check): Promise<DoctorCheck> {
  try {
    return { id, title, ...(await find()) }
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : String(thrown)
    return { id, title, verdict: 'fail', detail, ...defined({ hint }) }
  }
}

const ok = (detail: string): Finding => ({ verdict: 'ok', detail })

async function checkGit({ env }: CliContext): Promise<Finding> {
  const found = await gitVersion(env)
  if (found !== undefined) return ok(found)
  return { verdict: 'warn', detail: 'not found', hint: 'Install git: most coding agents use it' }
}

/** Undefined without git. */
export const gitVersion = (env: CliContext['env']): Promise<string | undefined> =>
  promisify(execFile)('git', ['--version'], { env: { ...env }, timeout: VERSION_MS }).then(
    ({ stdout }) => stdout.trim(),
    () => undefined,
  )

async function checkDisk(root: string): Promise<Finding> {
  const disk = await statfs(await existingFolder(root)).catch(() => undefined)
  if (disk === undefined) return { verdict: 'skip', detail: 'not available on this system' }
  const free = disk.bavail * disk.bsize
  const detail = `${(free / GIB).toFixed(1)} GiB free at ${root}`
  if (free > GIB) return ok(detail)
  const hint = 'Free disk space: a session ends when its log cannot be written'
  return { verdict: free > GIB / 10 ? 'warn' : 'fail', detail, hint }
}

/** Whether the default port is available. */
async function checkPort(home: HomeLayout): Promise<Finding> {
  const own = (await readDaemon(home))?.url
  if (own?.endsWith(`:${DEFAULT_PORT}`) === true) return ok(`${DEFAULT_PORT} is used by the gateway of this home`)
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(DEFAULT_PORT, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  return ok(free ? `${DEFAULT_PORT} is free` : `${DEFAULT_PORT} is in use; a gateway without --port uses a free one`)
}

/** Folders are 0700 and files 0600: they hold conversations, tokens and secrets. */
async function checkPermissions(home: HomeLayout): Promise<Finding> {
  const folders = [home.root, home.sessions, home.logs, home.crashBundles, home.backups]
  const files = [home.token, home.tokens, home.secrets, home.config, home.workspaces, home.sessionsIndex, home.daemon]
  const open: string[] = []
  for (const path of [...folders, ...files]) if (await isOpen(path)) open.push(path)
  if (open.length === 0) return ok('only you can read it')
  const hint = `Run: chmod go-rwx ${open.map((path) => `'${path}'`).join(' ')}`
  return { verdict: 'fail', detail: `other users can read ${open.join(', ')}`, hint }
}

async function isOpen(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const about = await stat(path).catch(() => undefined)
  return about !== undefined && (about.mode & 0o077) !== 0
}

async function checkConfig(path: string): Promise<Finding> {
  const keys = Object.keys(await readConfigFile(path)).length
  return ok(keys === 0 ? 'nothing is set' : `valid, ${keys} keys`)
}

/** How much room the recorded states of folders take. */
async function checkCheckpoints({ checkpoints }: HomeLayout): Promise<Finding> {
  const size = await folderSize(checkpoints)
  return ok(
    size.folders === 0 ? 'none' : `${sizeText(size)} for ${size.folders} folder${size.folders === 1 ? '' : 's'}`,
  )
}

/** What takes room in the home. */
async function checkSizes(home: HomeLayout): Promise<Finding> {
  const parts = []
  for (const name of SIZED) {
    const size = await folderSize(home[name])
    if (size.bytes > 0) parts.push(`${NAMES[name]} ${sizeText(size)}`)
  }
  return ok(parts.join(', ') || 'nothing is stored')
}

const SIZED = ['sessions', 'agents', 'homes', 'worktrees', 'logs', 'crashBundles', 'usage'] as const
const NAMES = {
  sessions: 'sessions',
  agents: 'agents',
  homes: 'homes of agents',
  worktrees: 'worktrees',
  logs: 'logs',
  crashBundles: 'crash bundles',
  usage: 'usage',
} as const satisfies Record<(typeof SIZED)[number], string>

const sizeText = ({ bytes, isMore }: FolderSize): string => `${isMore ? 'more than ' : ''}${byteCount(bytes)}`

/** The gateway of the home, if one is running. */
async function checkDaemon(context: CliContext): Promise<Finding> {
  const home = homeOf(context)
  const owner = await daemonProcess(home)
  if (owner === undefined && !context.env['AGENTPROTO_URL']) return ok('not running; a command that needs it starts it')
  const client = await connect({ ...context, autoStart: false })
  const health = await client.health()
  await client.sessions.list({ limit: 1 })
  const detail = `${health.version} at ${(await readDaemon(home))?.url ?? context.env['AGENTPROTO_URL']}`
  if (health.version === version()) return ok(detail)
  const hint = 'Restart it: agentproto restart'
  return { verdict: 'warn', detail: `${detail}, but this command is ${version()}`, hint }
}

/** The agents that can be started. */
async function checkAdapters(context: CliContext): Promise<Finding> {
  const adapters = await (await openAdapters(context)).list()
  const names = adapters.filter(({ installed }) => installed).map(({ slug }) => slug)
  const detail = `${names.length} of ${adapters.length} installed: ${names.join(', ') || 'none'}`
  if (names.some((slug) => slug !== 'demo')) return ok(detail)
  return { verdict: 'warn', detail, hint: 'Install one: agentproto adapters install opencode' }
}

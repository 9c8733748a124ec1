// A user of the command line with a home of its own, and what is left of what it started.
import { spawn } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../packages/cli/bin/agentproto.mjs', import.meta.url))

/** See cli-user.d.mts. */
export function createCliUser({ env = {}, timeoutMs = 15 * 60_000 } = {}) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-user-')))
  const [userHome, cwd, temporary] = ['user', 'work', 'tmp'].map((name) => join(root, name))
  for (const folder of [userHome, cwd, temporary]) mkdirSync(folder)
  const home = join(userHome, '.agentproto')
  const variables = { ...inherited(), HOME: userHome, AGENTPROTO_HOME: home, TMPDIR: temporary, NO_COLOR: '1', ...env }
  const run = (...args) => runCli(args, { cwd, env: variables, timeoutMs })
  return {
    home,
    cwd,
    env: variables,
    run,
    processes: () => processesBelow(root).map(({ command }) => command),
    left: () => leftIn({ root, home }),
    ownFiles: () => [userHome, temporary].flatMap((at) => readdirSync(at)).filter((name) => name !== '.agentproto'),
    megabytes: (slug) => Math.round(bytesBelow(join(home, 'agents', slug)) / 1024 / 1024),
    async end() {
      if (existsSync(home)) await run('stop')
      for (const { pid } of processesBelow(root)) kill(pid)
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

/** npm would download everything again for a new user. */
function inherited() {
  const variables = { npm_config_cache: join(homedir(), '.npm'), ...process.env }
  for (const name of Object.keys(variables)) if (/^(?:AGENTPROTO_|XDG_)/.test(name)) delete variables[name]
  return variables
}

/** Running processes, adapters, agents, and what is unfinished beside them. */
function leftIn({ root, home }) {
  const folders = [join(home, 'adapters'), join(home, 'agents')].filter((folder) => existsSync(folder))
  return [
    ...processesBelow(root).map(({ command }) => `process ${command}`),
    ...folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name).slice(root.length + 1))),
  ]
}

/** Runs a command to its end, however it ends. */
function runCli(args, { cwd, env, timeoutMs }) {
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  let timedOut = false
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text))
  const timer = setTimeout(() => {
    timedOut = true
    child.kill('SIGTERM')
  }, timeoutMs)
  return new Promise((resolve) =>
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code: code ?? -1, timedOut, ...texts })
    }),
  )
}

/** Processes that have the folder in their environment or their command line, or work in it. Linux only. */
function processesBelow(root) {
  if (!existsSync('/proc/self')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .filter((pid) => `${read(pid, 'environ')}${read(pid, 'cmdline')}${workingFolder(pid)}`.includes(root))
    .map((pid) => ({ pid: Number(pid), command: read(pid, 'cmdline').replaceAll('\0', ' ').trim() }))
    .filter(({ command }) => command !== '')
}

// A process may end between two of these reads, and some belong to other users.
function read(pid, file) {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

function workingFolder(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended since.
  }
}

function bytesBelow(path) {
  const info = lstatSync(path, { throwIfNoEntry: false })
  if (info === undefined || !info.isDirectory()) return info?.size ?? 0
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0)
}

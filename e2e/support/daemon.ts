import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient, type Client } from '@agentproto/client'
import { onTestFinished } from 'vitest'
import { endKeepers } from './end-keeper.js'

/** The bundled command line. */
export const CLI = fileURLToPath(new URL('../../packages/cli/bin/agentproto.mjs', import.meta.url))

/** `agentproto serve` in its own process, on a free port. */
export interface Daemon {
  readonly url: string
  readonly token: string
  readonly client: Client
  readonly pid: number
  /** Its output. */
  readonly printed: () => string
  /** SIGKILL, without any cleanup. */
  crash(): Promise<void>
}

export interface DaemonOptions {
  readonly home: string
  /** Whether its agents outlive it. Default true. */
  readonly keeper?: boolean
  /** Further arguments of `serve`. */
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** A program that starts it by exec. If that has its own mounts, the home is read through them. */
  readonly through?: readonly string[]
}

export async function startDaemon({
  home,
  keeper = true,
  args = [],
  env = {},
  through = [],
}: DaemonOptions): Promise<Daemon> {
  if (!keeper) withoutKeeper(join(home, '.agentproto'))
  const [program = process.execPath, ...words] = [...through, process.execPath, CLI, 'serve', '--port', '0', ...args]
  const child = spawn(program, words, {
    cwd: home,
    env: { ...process.env, ...homeVariables(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
    await endKeepers(home)
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const firstLine = once(createInterface(child.stdout), 'line')
  const ended = exited.then(() => {
    throw new Error(`agentproto serve ended:\n${printed}`)
  })
  const [url] = await Promise.race([firstLine, ended])
  const root = through.length === 0 ? '/' : `/proc/${child.pid}/root`
  const token = readFileSync(join(root, home, '.agentproto', 'token'), 'utf8').trim()
  return {
    url,
    token,
    client: createClient({ url, token }),
    pid: child.pid ?? 0,
    printed: () => printed,
    async crash() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** The agents of this home end with its gateway. */
function withoutKeeper(root: string): void {
  const path = join(root, 'config.json')
  const config: object = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as object) : {}
  mkdirSync(root, { recursive: true, mode: 0o700 })
  writeFileSync(path, JSON.stringify({ ...config, keeper: false }), { mode: 0o600 })
}

const homeVariables = (home: string): Record<string, string> => ({
  HOME: home,
  XDG_STATE_HOME: join(home, '.local', 'state'),
  AGENTPROTO_HOME: join(home, '.agentproto'),
})

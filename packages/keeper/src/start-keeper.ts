import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { asRecord, asString, systemClock } from '@agentproto/contracts'
import type { KeeperOptions } from './home-keeper.js'
import { unavailable } from './wire-connection.js'

/** Here, and in the bundle of the command line. */
const PROGRAM = fileURLToPath(new URL('../bin/agentproto-keeper.mjs', import.meta.url))
const CODE = new URL('../dist/agentproto-keeper.js', import.meta.url)
const PACKAGE = new URL('../package.json', import.meta.url)
/** How long it may take to listen, in milliseconds. */
const START_MS = 15_000

/** Of a keeper that starts now: the version, and a part of a hash of its code, since builds of one version differ. */
export function programBuild(): string {
  try {
    const { version } = asRecord(JSON.parse(readFileSync(PACKAGE, 'utf8')))
    return `${asString(version) ?? ''}+${createHash('sha256').update(readFileSync(CODE)).digest('hex').slice(0, 8)}`
  } catch (error) {
    throw unavailable('its program cannot be read', error)
  }
}

/**
 * Starts a keeper in a session of its own, so that no signal to this process's group reaches it, and waits until it or another
 * one listens.
 * @throws `keeper_unavailable`
 */
export async function startKeeper(options: KeeperOptions & { readonly build: string }): Promise<void> {
  const word = await firstWord(options)
  if (word !== 'ready' && word !== 'taken') throw unavailable(`it does not start (${word})`)
}

function firstWord({ folder, bounds, build, clock = systemClock }: Parameters<typeof startKeeper>[0]): Promise<string> {
  return new Promise((resolve) => {
    const keeper = spawn(process.execPath, [PROGRAM, folder, JSON.stringify({ ...bounds, build })], {
      cwd: folder,
      detached: true,
      env: smallEnvironment(),
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const timer = clock.after(START_MS, () => {
      keeper.kill('SIGKILL')
      resolve(`no answer within ${START_MS / 1000} s`)
    })
    keeper.once('error', (error) => resolve(error.message))
    keeper.once('close', (code, signal) => resolve(`exit ${signal ?? code}`))
    keeper.stdout.once('data', (chunk: Buffer) => {
      timer.cancel()
      resolve(chunk.toString('latin1').trim())
      keeper.stdout.destroy()
      keeper.unref()
    })
  })
}

/** No secret of this process outlives it there. */
function smallEnvironment(): Record<string, string> {
  const kept = ['PATH', 'LANG', 'TZ']
  const given = kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))
  // One thread needs one arena of the C library.
  return { ...Object.fromEntries(given), MALLOC_ARENA_MAX: '1' }
}

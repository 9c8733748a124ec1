import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { Refusal } from './refusal.js'

export interface ChildLaunch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** A child has no pid where its program could not be started. */
export type RunningChild = ChildProcessWithoutNullStreams & { readonly pid: number }

/** Node does not name it. Without it, the folder would have to be readable. */
const O_PATH = 0o10000000

/**
 * Starts a program directly, in a session and process group of its own. The system says at once whether it runs.
 * @throws {@link Refusal} with the `errno`; what Node reports later is returned as a promise that rejects with it
 */
export function spawnChild(launch: ChildLaunch): RunningChild | Promise<never> {
  const { command, args, env } = launch
  const child = inHeldFolder(launch.cwd, (cwd) => {
    try {
      return spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    } catch (error) {
      throw spawnFailed(error)
    }
  })
  if (isRunning(child)) return child.on('error', () => {})
  return new Promise((_, reject) => child.once('error', (error) => reject(spawnFailed(error))))
}

const isRunning = (child: ChildProcessWithoutNullStreams): child is RunningChild => child.pid !== undefined

/** No link can take the place of the folder between its check and the start; only Linux can do that. */
function inHeldFolder<T>(path: string, run: (cwd: string) => T): T {
  if (process.platform !== 'linux') return run(path)
  let held: number
  try {
    held = openSync(path, O_PATH | constants.O_DIRECTORY)
  } catch (error) {
    throw new Refusal('cwd_invalid', { errno: errnoOf(error) })
  }
  try {
    const at = `/proc/self/fd/${held}`
    if (readlinkSync(at) !== path) throw new Refusal('cwd_invalid')
    return run(at)
  } finally {
    closeSync(held)
  }
}

const spawnFailed = (error: unknown): Refusal => new Refusal('spawn_failed', { errno: errnoOf(error) })

const errnoOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'

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

/** Node does not name it. Without it, the folder would have to be readable. */
const O_PATH = 0o10000000

/** Starts a program directly, in a session and process group of its own. @throws {@link Refusal} with the `errno` */
export function spawnChild(launch: ChildLaunch): Promise<ChildProcessWithoutNullStreams> {
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(error instanceof Refusal ? error : spawnFailed(error))
    try {
      const child = inHeldFolder(launch.cwd, (cwd) =>
        spawn(launch.command, launch.args, { cwd, env: launch.env, stdio: ['pipe', 'pipe', 'pipe'], detached: true }),
      )
      child.once('error', failed)
      child.once('spawn', () => {
        child.off('error', failed).on('error', () => {})
        resolve(child)
      })
    } catch (error) {
      failed(error)
    }
  })
}

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

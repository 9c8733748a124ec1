import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { cwdInvalid } from './spawn-failure.js'

/** Node does not name it. Without it, the folder would have to be readable. */
const O_PATH = 0o10000000

/**
 * Starts a process in a folder that is held open, so that no link can take its place between the check and the start. Only
 * Linux can do that; elsewhere the check of the path has to do.
 * @throws `cwd_invalid` when the path leads to another folder
 */
export function inHeldFolder<T>(path: string, spawn: (cwd: string) => T): T {
  if (process.platform !== 'linux') return spawn(path)
  const held = openSync(path, O_PATH | constants.O_DIRECTORY)
  try {
    const at = `/proc/self/fd/${held}`
    if (readlinkSync(at) !== path)
      throw cwdInvalid('The working directory leads elsewhere than when it was resolved', path)
    return spawn(at)
  } finally {
    closeSync(held)
  }
}

import { mkdirSync, readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { AgentprotoError, type Clock, isAgentprotoError, pause, systemClock } from '@agentproto/contracts'
import { type HomeWriter, thisAgentproto } from '../version.js'
import { type HomeLock, lockHome } from './home-lock.js'
import { assertHomeReadable } from './home-record.js'
import { HOME_FORMAT } from './home-steps.js'
import { upgradeHome } from './upgrade-home.js'

export interface OpenHomeOptions {
  /** Default: this agentproto. */
  readonly by?: HomeWriter
  readonly clock?: Clock
}

export interface PrepareHomeOptions extends OpenHomeOptions {
  /** Creates a home that does not exist. Set it before anything is written. Default: false. */
  readonly create?: boolean
}

/**
 * Creates the home, locks it, and brings it up to date. Before, nothing of a home may be read.
 * @throws `daemon_running` with the gateway that has the home, `home_newer`, `home_invalid`, `home_upgrade_failed`,
 *   `storage_failed`
 */
export function openHome(root: string, options: OpenHomeOptions = {}): Promise<HomeLock> {
  return lockAndUpgrade(root, options, false)
}

/** As {@link openHome}, for work of a moment without a gateway: a gateway that starts meanwhile waits. */
export function lockBriefly(root: string, options: OpenHomeOptions = {}): Promise<HomeLock> {
  return lockAndUpgrade(root, options, true)
}

/**
 * Brings a home up to date for work on its files without a gateway. The lock is held only for that.
 * @throws `daemon_running` when a gateway of an older agentproto serves the home; the errors of {@link openHome}
 */
export async function prepareHome(
  root: string,
  { create = false, clock = systemClock, by = thisAgentproto }: PrepareHomeOptions = {},
): Promise<void> {
  for (const until = clock.now() + STARTING_MS; needsUpgrade(root, by, create); await pause(clock, POLL_MS)) {
    const busy = await upgradeBriefly(root, { by, clock })
    // A gateway that starts brings the home up to date itself, at once.
    if (busy !== undefined && clock.now() >= until) throw servedByOlder(root, busy)
    if (busy === undefined) return
  }
}

/** @throws what {@link assertHomeReadable} throws */
function needsUpgrade(root: string, by: HomeWriter, create: boolean): boolean {
  const record = assertHomeReadable(root, by)
  if (record === undefined) return create || !isEmpty(root)
  return record.format < HOME_FORMAT || record.pending !== undefined
}

/** @returns the error if another process has the home */
async function upgradeBriefly(root: string, options: OpenHomeOptions): Promise<AgentprotoError | undefined> {
  try {
    const lock = await lockBriefly(root, options)
    lock.release()
    return undefined
  } catch (error) {
    if (isAgentprotoError(error) && error.code === 'daemon_running') return error
    throw error
  }
}

const STARTING_MS = 5_000
const POLL_MS = 50

async function lockAndUpgrade(root: string, options: OpenHomeOptions, isBrief: boolean): Promise<HomeLock> {
  const { by = thisAgentproto, clock = systemClock } = options
  // A home of a newer agentproto is not touched, not even to lock it.
  assertHomeReadable(root, by)
  const lock = await createAndLock(root, { isBrief, clock })
  try {
    upgradeHome(root, { by, now: clock.now() })
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

async function createAndLock(
  root: string,
  options: { readonly isBrief: boolean; readonly clock: Clock },
): Promise<HomeLock> {
  try {
    makeFolder(root)
    return await lockHome(`${root}/daemon.lock`, options)
  } catch (error) {
    if (error instanceof AgentprotoError) throw error
    throw new AgentprotoError('storage_failed', 'The home cannot be written', {
      expected: 'a folder that this user can write to',
      given: `${root}: ${error instanceof Error ? error.message : String(error)}`,
      hint: 'Fix its permissions, or set AGENTPROTO_HOME to another folder',
      cause: error,
    })
  }
}

/**
 * Creates a folder and its parents. Node's `recursive` never returns in a folder that exists and accepts no entries, as below
 * `/proc`, and reports a read-only file system as a missing folder.
 */
function makeFolder(path: string): void {
  try {
    makeOne(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error
    makeFolder(dirname(path))
    makeOne(path)
  }
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another gateway may start at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function isEmpty(root: string): boolean {
  try {
    return readdirSync(root).length === 0
  } catch {
    return true
  }
}

const servedByOlder = (root: string, cause: AgentprotoError): AgentprotoError =>
  new AgentprotoError('daemon_running', `The gateway of the home ${root} is of an older agentproto`, {
    expected: `a home of format ${HOME_FORMAT}`,
    hint: 'Restart the gateway: agentproto stop && agentproto serve --detach',
    cause,
  })

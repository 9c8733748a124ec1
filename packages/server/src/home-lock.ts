import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { AgentprotoError, asNumber, asRecord, asString, parseJson } from '@agentproto/contracts'
import type { AgentProcessInfo } from '@agentproto/contracts/agent'
import { identify } from '@agentproto/subprocess'

/**
 * The lock of a home: one gateway at a time. It is a file that names its owner by pid and start time, so the lock of a killed
 * gateway is replaced at once, and a reused pid is not mistaken for the owner (docs/decisions/home-lock.md).
 */
export interface HomeLock {
  release(): void
}

/** Creates the home; locks it if things are stored. @throws `daemon_running` with its gateway, `storage_failed` */
export function openHome(root: string, inMemory: boolean): HomeLock | undefined {
  try {
    makeFolder(root)
    return inMemory ? undefined : lockHome(`${root}/daemon.lock`)
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

/** @throws `daemon_running` with the gateway that has the home */
function lockHome(path: string): HomeLock {
  const self = identify(process.pid) ?? { pid: process.pid, startTime: '' }
  for (let tries = 0; tries < 5; tries += 1) {
    if (tryLock(path, self)) return { release: () => release(path, self) }
    const owner = readOwner(path)
    if (owner !== undefined && identify(owner.pid)?.startTime === owner.startTime) throw taken(path, owner)
    if (owner !== undefined) discard(path, owner)
  }
  throw new AgentprotoError('daemon_running', 'Other gateways are starting for this home', {
    given: path,
    hint: 'Try again',
  })
}

function tryLock(path: string, self: AgentProcessInfo): boolean {
  const mine = `${path}.${process.pid}-${process.hrtime.bigint()}`
  writeFileSync(mine, JSON.stringify(self), { mode: 0o600, flag: 'wx' })
  try {
    linkSync(mine, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return false
  } finally {
    rmSync(mine)
  }
}

/** Removes a dead owner's lock; puts it back if another gateway has replaced it in the meantime. */
function discard(path: string, dead: AgentProcessInfo): void {
  const aside = `${path}.stale-${process.pid}-${process.hrtime.bigint()}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  const moved = readOwner(aside)
  if (moved !== undefined && moved.pid !== dead.pid) {
    try {
      linkSync(aside, path)
    } catch {
      // A third gateway has the lock by now.
    }
  }
  rmSync(aside, { force: true })
}

function release(path: string, self: AgentProcessInfo): void {
  const owner = readOwner(path)
  if (owner?.pid === self.pid && owner.startTime === self.startTime) rmSync(path, { force: true })
}

/** Undefined if there is no lock. An unreadable lock counts as one of a dead owner. */
function readOwner(path: string): AgentProcessInfo | undefined {
  try {
    const { pid, startTime } = asRecord(parseJson(readFileSync(path, 'utf8')))
    return { pid: asNumber(pid) ?? -1, startTime: asString(startTime) ?? '' }
  } catch {
    return undefined
  }
}

const taken = (path: string, { pid }: AgentProcessInfo): AgentprotoError =>
  new AgentprotoError('daemon_running', `Process ${pid} serves this home already`, {
    given: path,
    hint: 'Use it (`agentproto status`), stop it, or set AGENTPROTO_HOME to another home',
    data: { pid },
  })

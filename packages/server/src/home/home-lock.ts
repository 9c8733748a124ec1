import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { AgentprotoError, asNumber, asRecord, asString, type Clock, parseJson, pause } from '@agentproto/contracts'
import type { AgentProcessInfo } from '@agentproto/contracts/agent'
import { identify } from '@agentproto/subprocess'

/**
 * The lock of a home: one gateway at a time. It is a file that names its owner by pid and start time, so the lock of a killed
 * gateway is replaced at once, and a reused pid is not mistaken for the owner (docs/decisions/home-lock.md).
 */
export interface HomeLock {
  /** Whether the lock is still of this process: one that was frozen may have lost it. */
  isHeld(): boolean
  release(): void
}

export interface LockOptions {
  /** The lock is held for a moment, by a command without a gateway: others wait for it. */
  readonly isBrief: boolean
  readonly clock: Clock
}

/** @throws `daemon_running` with the gateway that has the home */
export async function lockHome(path: string, { isBrief, clock }: LockOptions): Promise<HomeLock> {
  const self: Owner = { ...(identify(process.pid) ?? { pid: process.pid, startTime: '' }), isBrief }
  for (let tries = 0; tries < 5; tries += 1) {
    await whileBrief(path, clock)
    if (tryLock(path, self)) return heldLock(path, self)
    const owner = readOwner(path)
    const lives = owner !== undefined && isAlive(owner)
    if (lives && !owner.isBrief) throw taken(path, owner)
    if (owner !== undefined && !lives) discard(path, owner)
  }
  throw new AgentprotoError('daemon_running', 'Other gateways are starting for this home', {
    given: path,
    hint: 'Try again',
  })
}

/** Waits while a command has the home for a moment. */
async function whileBrief(path: string, clock: Clock): Promise<void> {
  for (const until = clock.now() + BRIEF_MS; clock.now() < until;) {
    const owner = readOwner(path)
    if (owner?.isBrief !== true || !isAlive(owner)) return
    await pause(clock, POLL_MS)
  }
}

const isAlive = ({ pid, startTime }: Owner): boolean => identify(pid)?.startTime === startTime

/** What the file says of who has the home. */
interface Owner extends AgentProcessInfo {
  readonly isBrief: boolean
}

/** How long a command may have the home. */
const BRIEF_MS = 10_000
const POLL_MS = 20

function tryLock(path: string, self: Owner): boolean {
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
function discard(path: string, dead: Owner): void {
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

function heldLock(path: string, self: Owner): HomeLock {
  const isHeld = (): boolean => {
    const owner = readOwner(path)
    return owner?.pid === self.pid && owner.startTime === self.startTime
  }
  return { isHeld, release: () => isHeld() && rmSync(path, { force: true }) }
}

/** Undefined if there is no lock. An unreadable lock counts as one of a dead owner. */
function readOwner(path: string): Owner | undefined {
  try {
    const { pid, startTime, isBrief } = asRecord(parseJson(readFileSync(path, 'utf8')))
    return { pid: asNumber(pid) ?? -1, startTime: asString(startTime) ?? '', isBrief: isBrief === true }
  } catch {
    return undefined
  }
}

const taken = (path: string, { pid }: Owner): AgentprotoError =>
  new AgentprotoError('daemon_running', `Process ${pid} serves this home already`, {
    given: path,
    hint: 'Use it (`agentproto status`), stop it, or set AGENTPROTO_HOME to another home',
    data: { pid },
  })

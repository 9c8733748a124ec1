import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import {
  AgentprotoError,
  asNumber,
  asRecord,
  asString,
  type Clock,
  defined,
  parseJson,
  pause,
} from '@agentproto/contracts'
import type { AgentProcessInfo } from '@agentproto/contracts/agent'
import { identify, recordedProcess } from '@agentproto/subprocess'
import { isFresh, isTouchedAgain, keepFresh } from './foreign-lock.js'

/**
 * The lock of a home: one gateway at a time. It is a file that names its owner by pid and start time, so the lock of a killed
 * gateway is replaced at once, and a reused pid is not mistaken for the owner. Where pids say nothing of the owner, as in another
 * container, it lives as long as it touches its lock (docs/decisions/home-lock.md).
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
  const own = recordedProcess() ?? identify(process.pid) ?? { pid: process.pid, startTime: '' }
  const self: Owner = { ...own, isBrief }
  for (let tries = 0; tries < 5; tries += 1) {
    await whileBrief(path, clock)
    await assertNoForeign(path)
    if (tryLock(path, self)) return heldLock(path, self)
    const owner = readOwner(path)
    const lives = owner !== undefined && isAlive(path, owner)
    if (lives && !owner.isBrief) throw taken(path, owner)
    if (owner !== undefined && !lives) discard(path, owner)
  }
  throw new AgentprotoError('daemon_running', 'Other gateways are starting for this home', {
    given: path,
    hint: 'Try again',
  })
}

/** @throws `daemon_running` with an owner of another container that lives */
async function assertNoForeign(path: string): Promise<void> {
  const owner = readOwner(path)
  if (owner !== undefined && isForeign(owner) && (await isTouchedAgain(path))) throw taken(path, owner)
}

/** Waits while a command has the home for a moment. */
async function whileBrief(path: string, clock: Clock): Promise<void> {
  for (const until = clock.now() + BRIEF_MS; clock.now() < until;) {
    const owner = readOwner(path)
    if (owner?.isBrief !== true || !isAlive(path, owner)) return
    await pause(clock, POLL_MS)
  }
}

const isAlive = (path: string, owner: Owner): boolean =>
  isForeign(owner) ? isFresh(path) : identify(owner.pid)?.startTime === owner.startTime

/** Its pid is one of another container, another machine or another boot. */
function isForeign({ kernel }: Owner): boolean {
  const own = recordedProcess()?.kernel
  return kernel !== undefined && own !== undefined && kernel !== own
}

/** What the file says of who has the home. */
interface Owner extends AgentProcessInfo {
  /** Absent where the platform does not say enough, and of an earlier agentproto. */
  readonly kernel?: string
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
  if (moved !== undefined && !isSame(moved, dead)) {
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
    return owner !== undefined && isSame(owner, self)
  }
  const fresh = self.isBrief ? undefined : keepFresh(path, isHeld)
  return {
    isHeld,
    release() {
      fresh?.stop()
      if (isHeld()) rmSync(path, { force: true })
    },
  }
}

/** Two containers may both have the pid 1. */
const isSame = (a: Owner, b: Owner): boolean => a.pid === b.pid && a.startTime === b.startTime && a.kernel === b.kernel

/** Undefined if there is no lock. An unreadable lock counts as one of a dead owner. */
function readOwner(path: string): Owner | undefined {
  try {
    const { pid, startTime, kernel, isBrief } = asRecord(parseJson(readFileSync(path, 'utf8')))
    return {
      pid: asNumber(pid) ?? -1,
      startTime: asString(startTime) ?? '',
      ...defined({ kernel: asString(kernel) }),
      isBrief: isBrief === true,
    }
  } catch {
    return undefined
  }
}

const taken = (path: string, owner: Owner): AgentprotoError => {
  const { pid } = owner
  const where = isForeign(owner) ? ' of another container or machine' : ''
  return new AgentprotoError('daemon_running', `Process ${pid}${where} serves this home already`, {
    given: path,
    hint: 'Use it (`agentproto status`), stop it, or set AGENTPROTO_HOME to another home',
    data: { pid },
  })
}

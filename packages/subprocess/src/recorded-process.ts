import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { AgentProcessInfo } from '@agentproto/contracts/agent'
import { identify } from './process-table.js'

/** A process as a file has it, for a program that asks about it later. */
export interface RecordedProcess extends AgentProcessInfo {
  /** The boot of the machine, and the namespaces in which the process has its pid and its start time. */
  readonly kernel: string
}

/** This process; undefined where the platform does not say enough for {@link hasSurelyEnded}. */
export function recordedProcess(): RecordedProcess | undefined {
  const own = identify(process.pid)
  const kernel = thisKernel()
  return own === undefined || kernel === undefined ? undefined : { ...own, kernel }
}

/**
 * Whether a recorded process has ended, for decisions that must not be wrong. False where that is not sure: of another machine,
 * another boot or another container nothing is known here. After a reboot the process is gone, but a copy of the file on another
 * machine looks the same.
 */
export function hasSurelyEnded({ pid, startTime, kernel }: RecordedProcess): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0 || kernel !== thisKernel()) return false
  if (isFree(pid)) return true
  const known = identify(pid)
  // A living process can be hidden (`hidepid`), so that one that is not listed has ended only when it is seen as a zombie.
  return known === undefined ? isZombie(pid) : known.startTime !== startTime
}

/**
 * A namespace keeps its number while a process is in it. A pid that is free in the namespace with the number of the record is
 * therefore that of a process that has ended, also where the number was given to another namespace since.
 */
function thisKernel(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    // In a container that has the /proc of its machine, pids there are not those of signals.
    if (readlinkSync('/proc/self') !== String(process.pid)) return undefined
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    // Start times are given in the time namespace of the reader.
    return [boot, readlinkSync('/proc/self/ns/pid'), readlinkSync('/proc/self/ns/time')].join(' ')
  } catch {
    return undefined
  }
}

/** A process of another user, and a zombie, still have their pid. */
function isFree(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** The first thread of a process can be a zombie while others run: then there are more than one. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3)
    return state === 'Z' && readdirSync(`/proc/${pid}/task`).length === 1
  } catch {
    return false
  }
}

import { readFileSync } from 'node:fs'
import { asRecord, parseJson } from '@agentproto/contracts'
import type { AgentProcessInfo, HomeLayout } from '@agentproto/contracts/agent'

/** The process that holds the lock of the home, by pid *and* start time, so that no other process is ever signalled. */
export interface DaemonProcess {
  readonly pid: number
  isAlive(): boolean
}

/** Undefined when no gateway holds the home. */
export async function daemonProcess({ root }: HomeLayout): Promise<DaemonProcess | undefined> {
  const { identify } = await import('@agentproto/subprocess')
  const owner = ownerOf(`${root}/daemon.lock`)
  if (owner === undefined) return undefined
  const { pid, startTime } = owner
  const isAlive = (): boolean => identify(pid)?.startTime === startTime
  return isAlive() ? { pid, isAlive } : undefined
}

function ownerOf(path: string): AgentProcessInfo | undefined {
  try {
    const { pid, startTime, isBrief } = asRecord(parseJson(readFileSync(path, 'utf8')))
    // A command that changes the home is no gateway: it is not stopped like one.
    if (isBrief === true) return undefined
    return typeof pid === 'number' && pid > 0 && typeof startTime === 'string' ? { pid, startTime } : undefined
  } catch {
    return undefined
  }
}

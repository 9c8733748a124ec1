import { readFileSync } from 'node:fs'
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
    const { pid, startTime } = JSON.parse(readFileSync(path, 'utf8')) as Partial<AgentProcessInfo>
    return typeof pid === 'number' && pid > 0 && typeof startTime === 'string' ? { pid, startTime } : undefined
  } catch {
    return undefined
  }
}

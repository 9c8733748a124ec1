import { readFileSync, rmSync } from 'node:fs'
import type { DaemonRecord } from '@agentproto/contracts/agent'
import { sync as writeAtomic } from 'write-file-atomic'

/** `daemon.json`: where the gateway of a home listens, for the command line to find. */

export function writeDaemonRecord(path: string, record: DaemonRecord): void {
  writeAtomic(path, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
}

/** Removes the record if it is still this process's. */
export function removeDaemonRecord(path: string): void {
  try {
    const { pid } = JSON.parse(readFileSync(path, 'utf8')) as Partial<DaemonRecord>
    if (pid === process.pid) rmSync(path, { force: true })
  } catch {
    // It is already removed.
  }
}

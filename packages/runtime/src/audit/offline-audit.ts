import { existsSync, readFileSync } from 'node:fs'
import { type Clock, type Principal, systemClock } from '@agentproto/contracts'
import { RotatingFile } from '../telemetry/rotating-file.js'
import { layoutOf } from '../with-config.js'
import { type AuditEntry, AUDIT_SIZE } from './audit-log.js'
import { type Log, noted } from './noted.js'

export interface OfflineAuditOptions {
  /** Folder of the gateway's state. Default: `AGENTPROTO_HOME`, else `~/.agentproto`. */
  readonly home?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  /** Told that a line could not be written. */
  readonly onProblem?: (problem: string) => void
}

/** Whoever may write a home's files is its owner. */
const OWNER: Principal = { type: 'owner', name: 'owner' }
/** A gateway that has the file open puts it aside first: only where none runs is it done here. */
const SLACK_BYTES = 1024 * 1024

/**
 * Does a change to a home that goes through no gateway, and has its audit log say so.
 * @param what `action`, as in docs/security.md, and what it is about; no secret
 * @returns what the work gives; a log that cannot be written stops nobody
 * @throws what the work throws
 */
export function auditOffline<T>(
  options: OfflineAuditOptions,
  { action, ...about }: { readonly action: string; readonly [about: string]: unknown },
  work: () => Promise<T>,
): Promise<T> {
  return noted(offlineLog(options), { action, by: undefined, about }, work)
}

/** The audit log of a home as those write it who need no gateway: each line at once, and marked. */
export function offlineLog(options: OfflineAuditOptions): Log {
  const { clock = systemClock, onProblem } = options
  const { logs, config } = layoutOf(options)
  // As it was before: who turns it off is written down.
  const off = isOff(config)
  return {
    write(entry: AuditEntry) {
      if (off) return
      const ts = new Date(clock.now()).toISOString()
      const { kind, principal = { ...OWNER }, ...rest } = entry
      const { maxBytes, files } = AUDIT_SIZE
      const file = new RotatingFile({ path: `${logs}/audit.jsonl`, maxBytes: maxBytes + SLACK_BYTES, files })
      try {
        file.append(`${JSON.stringify({ ts, kind, principal, ...rest, offline: true })}\n`)
      } catch (thrown) {
        onProblem?.(`The audit log cannot be written: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
      } finally {
        file.close()
      }
    },
  }
}

/** What a gateway would refuse to start with is no reason to write nothing. */
function isOff(config: string): boolean {
  if (!existsSync(config)) return false
  try {
    return (JSON.parse(readFileSync(config, 'utf8')) as { readonly audit?: unknown }).audit === false
  } catch {
    return false
  }
}

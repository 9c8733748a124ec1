import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { type Clock, type Principal, systemClock } from '@agentproto/contracts'
import { homeFrom, homeLayout } from '@agentproto/contracts/agent'
import { prepareHome } from '../home/open-home.js'
import type { Audit } from './audit.js'
import { type AuditEntry, AUDIT_SIZE, AuditLog, type AuditWriter } from './audit-log.js'
import { auditPromise, withAudit } from './with-audit.js'

/** What is changed without a gateway, and how. */
export interface OfflineOptions {
  /** Folder of the gateway's state. Default: `AGENTPROTO_HOME`, else `~/.agentproto`. */
  readonly home?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  /** Called when a line of the audit log could not be written, or a file was moved aside. */
  readonly onProblem?: (problem: string) => void
}

/** Who may write the files of a home is its owner. */
const OWNER: Principal = { type: 'owner', name: 'owner' }
/** A running gateway has the file open and rotates it first; only where none runs is it rotated here. */
const SLACK_BYTES = 1024 * 1024

/**
 * Makes a change to a home without a gateway, and records it in the audit log.
 * Its line has `action`, as in docs/security.md, and what it is about; no secret.
 * @returns what the work returns; a log that cannot be written does not stop it
 * @throws what the work throws; what `prepareHome` throws, before anything is changed
 */
export async function auditOffline<T>(
  options: OfflineOptions,
  { action, ...about }: { readonly action: string; readonly [about: string]: unknown },
  work: () => Promise<T>,
): Promise<T> {
  const { home, env = process.env, clock = systemClock } = options
  await prepareHome(home ?? homeFrom(env, homedir()), { create: true, clock })
  const { writer, close } = offlineWriter(options)
  try {
    return await auditPromise(writer, { action, by: undefined, about }, work())
  } finally {
    await close()
  }
}

/** The audit log of a home as a command without a gateway writes it: the file is closed after each line, which is marked `offline`. */
export function openOfflineAudit(options: OfflineOptions): Pick<Audit, 'wrap' | 'close'> {
  const { writer, close } = offlineWriter(options)
  return { wrap: (name, service) => withAudit(name, service, { log: writer }), close }
}

function offlineWriter(options: OfflineOptions): { readonly writer: AuditWriter; close(): Promise<void> } {
  const { home, env = process.env, clock = systemClock, onProblem = () => undefined } = options
  const { logs, config } = homeLayout(home ?? homeFrom(env, homedir()))
  // Read before the change: turning the audit off is recorded.
  const path = isOff(config) ? undefined : `${logs}/audit.jsonl`
  const maxBytes = AUDIT_SIZE.maxBytes + SLACK_BYTES
  let written: Promise<unknown> = Promise.resolve()
  function write({ kind, principal = { ...OWNER }, ...rest }: AuditEntry): void {
    const log = new AuditLog({ path, clock, onProblem, redact: (json) => json, maxBytes })
    log.write({ kind, principal, ...rest, offline: true })
    written = Promise.all([written, log.close()])
  }
  return { writer: { write }, close: async () => void (await written) }
}

/** A file that a gateway would reject does not turn the audit off. */
function isOff(config: string): boolean {
  if (!existsSync(config)) return false
  try {
    return (JSON.parse(readFileSync(config, 'utf8')) as { readonly audit?: unknown }).audit === false
  } catch {
    return false
  }
}

import type { Clock } from '@agentproto/contracts'
import { LogFile } from '../telemetry/log-file.js'
import { RepeatLimit } from '../telemetry/repeat-limit.js'

export interface AuditLogOptions {
  /** Absolute path of the current file; full files are beside it, `.1` is the newest. Undefined: nothing is written. */
  readonly path: string | undefined
  readonly clock: Clock
  readonly redact: (json: string) => string
  readonly onProblem: (problem: string) => void
  /** Size in bytes at which a file is full. Default 5 MiB. */
  readonly maxBytes?: number
  /** Number of files that are kept, including the current one. Default 10. */
  readonly files?: number
}

export const AUDIT_SIZE = { maxBytes: 5 * 1024 * 1024, files: 10 } as const

/** The content of one line, without its time. */
export type AuditEntry = { readonly kind: 'control' | 'request' | 'tool' | 'refused' } & Readonly<
  Record<string, unknown>
>

export interface AuditWriter {
  write(entry: AuditEntry): void
}

/** The texts of a longer line are cut, after redaction: half a secret would no longer be recognised. */
const MAX_LINE_CHARS = 16_384
const MAX_TEXT_CHARS = 512

/** Who did what, as JSON lines, append-only (docs/security.md). A full disk costs lines, and is reported once a minute. */
export class AuditLog implements AuditWriter {
  readonly #options: AuditLogOptions
  readonly #file: LogFile
  readonly #reports: RepeatLimit

  constructor(options: AuditLogOptions) {
    this.#options = options
    this.#reports = new RepeatLimit(options.clock, 1)
    const { path, clock, maxBytes = AUDIT_SIZE.maxBytes, files = AUDIT_SIZE.files } = options
    this.#file = new LogFile({ path, maxBytes, files, clock, onError: (error) => this.#report(error) })
  }

  write(entry: AuditEntry): void {
    const { path, clock, redact } = this.#options
    if (path === undefined) return
    const json = redact(JSON.stringify({ ts: new Date(clock.now()).toISOString(), ...entry }))
    this.#file.append(`${json.length > MAX_LINE_CHARS ? cut(json) : json}\n`)
  }

  /** Writes what is pending. Idempotent. */
  close(): Promise<void> {
    return this.#file.close()
  }

  #report({ message }: Error): void {
    if (!this.#reports.check('lost').admitted) return
    this.#options.onProblem(`The audit log cannot be written, lines are lost: ${message}`)
  }
}

function cut(json: string): string {
  const short = JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : value,
  )
  if (short.length <= MAX_LINE_CHARS) return short
  const { ts, kind, principal, action, session } = JSON.parse(short) as Record<string, unknown>
  return JSON.stringify({ ts, kind, principal, action, session, cut: { originalChars: json.length } })
}

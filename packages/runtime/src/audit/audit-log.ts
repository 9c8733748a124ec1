import type { Clock } from '@agentproto/contracts'
import { RotatingFile } from '../telemetry/rotating-file.js'

export interface AuditLogOptions {
  /** Absolute path of the file that is written; full ones are beside it, `.1` the newest. */
  readonly path: string
  readonly clock: Clock
  readonly redact: (json: string) => string
  readonly onProblem: (problem: string) => void
  /** Bytes after which a file is full. Default 5 MiB. */
  readonly maxBytes?: number
  /** Files that are kept, with the one that is written. Default 10. */
  readonly files?: number
}

/** How much of it is kept, where nobody says otherwise. */
export const AUDIT_SIZE = { maxBytes: 5 * 1024 * 1024, files: 10 } as const

/** What one line says, beside when. */
export type AuditEntry = { readonly kind: 'control' | 'request' | 'tool' | 'refused' } & Readonly<
  Record<string, unknown>
>

/** A longer line has its texts cut, after the secrets were taken out of it: half of one would be known to nobody. */
const MAX_LINE_CHARS = 16_384
const MAX_TEXT_CHARS = 512
/** What waits to be written is written at once when it is more. */
const MAX_WAITING_CHARS = 64 * 1024
const PROBLEM_EVERY_MS = 60_000

/**
 * Who did what: one JSON object a line, `{ts, kind, …}`, only ever appended to (DESIGN §5). Lines of one turn of the event
 * loop are written together. A disk that refuses costs the lines, and is told of once a minute.
 */
export class AuditLog {
  readonly #options: AuditLogOptions
  readonly #maxBytes: number
  readonly #file: RotatingFile
  #waiting: string[] = []
  #waitingChars = 0
  #closed = false
  #problemAt: number | undefined

  constructor(options: AuditLogOptions) {
    const { path, maxBytes = AUDIT_SIZE.maxBytes, files = AUDIT_SIZE.files } = options
    this.#options = options
    this.#maxBytes = maxBytes
    this.#file = new RotatingFile({ path, maxBytes, files })
  }

  write(entry: AuditEntry): void {
    if (this.#closed) return
    const { clock, redact } = this.#options
    const line = `${bounded(redact(JSON.stringify({ ts: new Date(clock.now()).toISOString(), ...entry })))}\n`
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push(line)
    this.#waitingChars += line.length
    if (this.#waitingChars >= MAX_WAITING_CHARS) this.#flush()
  }

  /** Writes what waits. Idempotent. */
  close(): void {
    this.#flush()
    this.#closed = true
    this.#file.close()
  }

  #flush(): void {
    const lines = this.#waiting
    this.#waiting = []
    this.#waitingChars = 0
    if (lines.length === 0 || this.#closed) return
    try {
      for (const part of together(lines, Math.min(this.#maxBytes, MAX_WAITING_CHARS))) this.#file.append(part)
    } catch (thrown) {
      this.#lost(thrown)
    }
  }

  #lost(thrown: unknown): void {
    const now = this.#options.clock.now()
    if (this.#problemAt !== undefined && now - this.#problemAt < PROBLEM_EVERY_MS) return
    this.#problemAt = now
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    this.#options.onProblem(`The audit log cannot be written, lines are lost: ${why}`)
  }
}

function bounded(json: string): string {
  if (json.length <= MAX_LINE_CHARS) return json
  const cut = JSON.stringify(JSON.parse(json), (_, value: unknown) =>
    typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : value,
  )
  if (cut.length <= MAX_LINE_CHARS) return cut
  const { ts, kind, principal, action, session } = JSON.parse(cut) as Record<string, unknown>
  return JSON.stringify({ ts, kind, principal, action, session, cut: { originalChars: json.length } })
}

/** Lines joined to texts of at most so many bytes, but for a line that is longer by itself. */
function together(lines: readonly string[], maxBytes: number): readonly string[] {
  const parts: string[] = []
  let part = ''
  let bytes = 0
  for (const line of lines) {
    const size = Buffer.byteLength(line)
    if (bytes > 0 && bytes + size > maxBytes) {
      parts.push(part)
      part = ''
      bytes = 0
    }
    part += line
    bytes += size
  }
  return [...parts, part]
}

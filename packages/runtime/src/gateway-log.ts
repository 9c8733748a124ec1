import { closeSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Clock, SessionEvent } from '@agentproto/contracts'

/** In rising order. */
const LEVELS = ['debug', 'info', 'warn', 'error', 'off'] as const
export type LogLevel = (typeof LEVELS)[number]

export interface LogOptions {
  /** What is less than this is not written. Default `info`. */
  readonly level?: LogLevel
  /** Bytes after which a file is full. Default 5 MiB. */
  readonly maxBytes?: number
  /** Files that are kept, with the one that is written. Default 5. */
  readonly files?: number
}

export interface GatewayLogOptions extends LogOptions {
  /** Absolute path of the file that is written; full ones are beside it, `.1` the newest. Undefined: nothing is. */
  readonly path: string | undefined
  readonly clock: Clock
  readonly redact: (line: string) => string
}

type Fields = Readonly<Record<string, unknown>>

/** Lines of one message in one window; more are counted and told in one line when the next window begins. */
const BURST = 20
const WINDOW_MS = 60_000
/** Messages that are counted at once. */
const MAX_MESSAGES = 500
const MAX_TEXT_CHARS = 8_192

interface Window {
  readonly since: number
  lines: number
}

/**
 * The gateway's own log: one JSON object a line, `{ts, level, msg, …}`. It is written as it comes, so that the last words
 * before a crash are there; a message that floods is cut off and counted (F75); a full disk costs the log and nothing else.
 */
export class GatewayLog {
  readonly #options: GatewayLogOptions
  readonly #least: number
  readonly #windows = new Map<string, Window>()
  #file: { readonly fd: number; bytes: number } | undefined
  #closed = false

  constructor(options: GatewayLogOptions) {
    this.#options = options
    this.#least = LEVELS.indexOf(options.level ?? 'info')
  }

  /** Writes a line. @param msg one of few texts; what differs is in the fields */
  write(level: Exclude<LogLevel, 'off'>, msg: string, fields: Fields = {}): void {
    const { path } = this.#options
    if (path === undefined || this.#closed || LEVELS.indexOf(level) < this.#least) return
    if (this.#admits(path, level, msg)) this.#put(path, level, { msg, ...fields })
  }

  /** Writes what a batch of events says of the state of a session. */
  events(events: readonly SessionEvent[]): void {
    for (const event of events) {
      const { sessionId, turn } = event
      if (event.type === 'status') this.write('info', 'session', { sessionId, status: event.status })
      if (event.type === 'turn-end') this.write('debug', 'turn ended', { sessionId, turn, reason: event.reason })
      if (event.type === 'session-stopped') {
        const { stopReason, exitCode, signal, failure } = event
        this.write(failure === undefined ? 'info' : 'warn', 'session stopped', {
          sessionId,
          stopReason,
          exitCode,
          signal,
          failure: failure?.kind,
          summary: failure?.summary,
        })
      }
    }
  }

  close(): void {
    this.#closed = true
    if (this.#file !== undefined) closeSync(this.#file.fd)
    this.#file = undefined
  }

  #admits(path: string, level: LogLevel, msg: string): boolean {
    const now = this.#options.clock.now()
    const key = `${level} ${msg.slice(0, 200)}`
    const window = this.#windows.get(key)
    if (window !== undefined && now - window.since < WINDOW_MS) return ++window.lines <= BURST
    if (window !== undefined && window.lines > BURST)
      this.#put(path, level, { msg, repeated: window.lines - BURST, since: new Date(window.since).toISOString() })
    // Set anew, it becomes the last one: the first is the one that nobody has said for longest.
    this.#windows.delete(key)
    this.#windows.set(key, { since: now, lines: 1 })
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > MAX_MESSAGES && oldest !== undefined) this.#windows.delete(oldest)
    return true
  }

  #put(path: string, level: LogLevel, fields: Fields): void {
    const ts = new Date(this.#options.clock.now()).toISOString()
    const json = JSON.stringify({ ts, level, ...fields }, (_, value: unknown) =>
      typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : value,
    )
    const line = Buffer.from(`${this.#options.redact(json)}\n`)
    try {
      const file = this.#openFor(path, line.byteLength)
      writeSync(file.fd, line)
      file.bytes += line.byteLength
    } catch {
      // A log that cannot be written must not cost anybody a session.
    }
  }

  /** The file that has room for so many bytes. */
  #openFor(path: string, bytes: number): { readonly fd: number; bytes: number } {
    const { maxBytes = 5 * 1024 * 1024 } = this.#options
    const open = (this.#file ??= opened(path))
    if (open.bytes === 0 || open.bytes + bytes <= maxBytes) return open
    closeSync(open.fd)
    this.#file = undefined
    this.#rotate(path)
    return (this.#file = opened(path))
  }

  #rotate(path: string): void {
    const { files = 5 } = this.#options
    const at = (number: number): string => (number === 0 ? path : `${path}.${number}`)
    rmSync(at(files - 1), { force: true })
    for (let number = files - 2; number >= 0; number--) {
      try {
        renameSync(at(number), at(number + 1))
      } catch {
        // There are not as many yet.
      }
    }
  }
}

function opened(path: string): { readonly fd: number; bytes: number } {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fd = openSync(path, 'a', 0o600)
  return { fd, bytes: statSync(path).size }
}

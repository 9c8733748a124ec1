import { type Clock, type SessionEvent, traceIdOf } from '@agentproto/contracts'
import { RotatingFile } from './rotating-file.js'

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
  readonly #file: RotatingFile | undefined
  #closed = false

  constructor(options: GatewayLogOptions) {
    this.#options = options
    this.#least = LEVELS.indexOf(options.level ?? 'info')
    const { path, maxBytes = 5 * 1024 * 1024, files = 5 } = options
    this.#file = path === undefined ? undefined : new RotatingFile({ path, maxBytes, files })
  }

  /** Writes a line. @param msg one of few texts; what differs is in the fields */
  write(level: Exclude<LogLevel, 'off'>, msg: string, fields: Fields = {}): void {
    const file = this.#file
    if (file === undefined || this.#closed || LEVELS.indexOf(level) < this.#least) return
    if (this.#admits(file, level, msg)) this.#put(file, level, { msg, ...fields })
  }

  /** Writes what a batch of events says of the state of a session. */
  events(events: readonly SessionEvent[]): void {
    for (const event of events) {
      const { sessionId, turn } = event
      if (event.type === 'status') this.write('info', 'session', { sessionId, status: event.status })
      // What is part of a trace can be found by it here; what is not is not worth a line.
      if (event.type === 'user-prompt' && event.traceparent !== undefined)
        this.write('info', 'prompt', { sessionId, turn, traceId: traceIdOf({ traceparent: event.traceparent }) })
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
    this.#file?.close()
  }

  #admits(file: RotatingFile, level: LogLevel, msg: string): boolean {
    const now = this.#options.clock.now()
    const key = `${level} ${msg.slice(0, 200)}`
    const window = this.#windows.get(key)
    if (window !== undefined && now - window.since < WINDOW_MS) return ++window.lines <= BURST
    if (window !== undefined && window.lines > BURST)
      this.#put(file, level, { msg, repeated: window.lines - BURST, since: new Date(window.since).toISOString() })
    // Set anew, it becomes the last one: the first is the one that nobody has said for longest.
    this.#windows.delete(key)
    this.#windows.set(key, { since: now, lines: 1 })
    const [oldest] = this.#windows.keys()
    if (this.#windows.size > MAX_MESSAGES && oldest !== undefined) this.#windows.delete(oldest)
    return true
  }

  #put(file: RotatingFile, level: LogLevel, fields: Fields): void {
    const ts = new Date(this.#options.clock.now()).toISOString()
    const json = JSON.stringify({ ts, level, ...fields }, (_, value: unknown) =>
      typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : value,
    )
    try {
      file.append(`${this.#options.redact(json)}\n`)
    } catch {
      // A log that cannot be written must not cost anybody a session.
    }
  }
}

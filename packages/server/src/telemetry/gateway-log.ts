import { type Clock, type SessionEvent, traceIdOf } from '@agentproto/contracts'
import { type Logger, pino } from 'pino'
import { LogFile } from './log-file.js'
import { RepeatLimit } from './repeat-limit.js'

/** In rising order of severity. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'off'

export interface LogOptions {
  /** Less severe messages are not written. Default `info`. */
  readonly level?: LogLevel
  /** Size in bytes at which a file is full. Default 5 MiB. */
  readonly maxBytes?: number
  /** Number of files that are kept, including the current one. Default 5. */
  readonly files?: number
}

export interface GatewayLogOptions extends LogOptions {
  /** Absolute path of the current file; full files are beside it, `.1` is the newest. Undefined: nothing is written. */
  readonly path: string | undefined
  readonly clock: Clock
  readonly redact: (fields: Fields) => Fields
}

type Fields = Readonly<Record<string, unknown>>

/** How often one message is written in a minute. */
const BURST = 20
const MAX_TEXT_CHARS = 8_192

/** JSON lines, `{level, ts, …, msg}`. Repeated ones are counted, not written (F75). A full disk costs only lines. */
export class GatewayLog {
  readonly #file: LogFile
  readonly #logger: Logger
  readonly #repeats: RepeatLimit

  constructor({ path, clock, redact, level = 'info', maxBytes = 5 * 1024 * 1024, files = 5 }: GatewayLogOptions) {
    const file = new LogFile({ path, maxBytes, files, clock })
    this.#file = file
    this.#repeats = new RepeatLimit(clock, BURST)
    this.#logger = pino(
      {
        level: level === 'off' ? 'silent' : level,
        base: null,
        timestamp: () => `,"ts":"${new Date(clock.now()).toISOString()}"`,
        // Redacted first: half a secret would not be recognised.
        formatters: { level: (name) => ({ level: name }), log: (fields) => cut(redact(fields)) },
      },
      { write: (line) => file.append(line) },
    )
  }

  /** Writes a line. @param msg one of a few fixed texts; what varies goes into the fields */
  write(level: Exclude<LogLevel, 'off'>, msg: string, fields: Fields = {}): void {
    if (!this.#logger.isLevelEnabled(level)) return
    const { admitted, suppressed } = this.#repeats.check(`${level} ${msg}`)
    if (suppressed !== undefined) this.#logger[level](suppressed, msg)
    if (admitted) this.#logger[level](fields, msg)
  }

  /** Writes what a batch of events says about the state of a session. */
  events(events: readonly SessionEvent[]): void {
    for (const event of events) {
      const { sessionId, turn } = event
      if (event.type === 'status') this.write('info', 'session', { sessionId, status: event.status })
      // Only a prompt that is part of a trace has a line: the line is how a trace is found here.
      if (event.type === 'user-prompt' && event.traceparent !== undefined)
        this.write('info', 'prompt', { sessionId, turn, traceId: traceIdOf({ traceparent: event.traceparent }) })
      if (event.type === 'turn-end' && this.#logger.isLevelEnabled('debug'))
        this.write('debug', 'turn ended', { sessionId, turn, reason: event.reason })
      if (event.type === 'session-stopped') this.write(...stoppedLine(event))
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

function stoppedLine(event: SessionEvent & { readonly type: 'session-stopped' }): ['info' | 'warn', string, Fields] {
  const { sessionId, stopReason, exitCode, signal, failure } = event
  // Its summary quotes the agent.
  const fields = { sessionId, stopReason, exitCode, signal, failure: failure?.kind }
  return [failure === undefined ? 'info' : 'warn', 'session stopped', fields]
}

function cut(fields: Fields): Record<string, unknown> {
  const entries = Object.entries(fields)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : value]),
  )
}

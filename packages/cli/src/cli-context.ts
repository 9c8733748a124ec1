import type { Readable, Writable } from 'node:stream'
import { createPaint, wantsColor, type Paint } from './render/paint.js'

/** A stream that may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
export type Input = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown }

/** Everything of the process that a command may use. */
export interface CliContext {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether a command may start the gateway that it needs. Default: false. */
  readonly autoStart?: boolean
}

export const paintFor = (context: CliContext, stream: Output): Paint => createPaint(wantsColor(stream, context.env))

/** Columns of the terminal. A pipe has no limit. */
export const widthOf = (stream: Output): number =>
  stream.isTTY === true ? (stream.columns ?? 80) : Number.MAX_SAFE_INTEGER

/** Whether stdin and stdout are both terminals. */
export const isInteractive = ({ stdin, stdout }: CliContext): boolean => stdin.isTTY === true && stdout.isTTY === true

export function print(stream: Output, lines: readonly string[] | string): void {
  const text = typeof lines === 'string' ? lines : lines.join('\n')
  stream.write(`${text}\n`)
}

export const printJson = (context: CliContext, value: unknown): void =>
  print(context.stdout, JSON.stringify(value, undefined, 2))

/** A note or a problem, on stderr. */
export const warn = ({ stderr }: Pick<CliContext, 'stderr'>, message: string): void =>
  print(stderr, `agentproto: ${message}`)

import type { Readable, Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { createPaint, wantsColor, type Paint } from './render/paint.js'
import { printable, visible } from './render/printable.js'

/** A stream that may be a terminal. It has no `write`: what reaches it goes through `print`, `pass` or `raw`. */
export type Output = Pick<Writable, 'on' | 'off'> & Partial<Pick<WriteStream, 'isTTY' | 'columns' | 'rows'>>
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
  stream.isTTY === true ? stream.columns || 80 : Number.MAX_SAFE_INTEGER

/** Whether stdin and stdout are both terminals. */
export const isInteractive = ({ stdin, stdout }: CliContext): boolean => stdin.isTTY === true && stdout.isTTY === true

/** Prints lines of ours. They may quote an agent: no more than colours reaches the terminal. */
export const print = (stream: Output, lines: readonly string[] | string): void =>
  void raw(stream).write(`${visible(typeof lines === 'string' ? lines : lines.join('\n'))}\n`)

/** Passes on what an agent wrote. A pipe gets it unchanged. */
export const pass = (stream: Output, text: string): void =>
  void raw(stream).write(stream.isTTY === true ? printable(text) : text)

/** The stream itself, for a protocol and for what moves the cursor. A test lists who uses it. */
export const raw = (stream: Output): Writable => stream as Writable

export const printJson = (context: CliContext, value: unknown): void =>
  print(context.stdout, JSON.stringify(value, undefined, 2))

/** A note or a problem, on stderr. */
export const warn = ({ stderr }: Pick<CliContext, 'stderr'>, message: string): void =>
  print(stderr, `agentproto: ${message}`)

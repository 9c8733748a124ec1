import type { Readable, Writable } from 'node:stream'
import { createPaint, wantsColour, type Paint } from './render/paint.js'

/** A stream that may be a terminal. */
export type Output = Writable & { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number }
export type Input = Readable & { readonly isTTY?: boolean; setRawMode?(on: boolean): unknown }

/** Everything of the process that a command may use. */
export interface Io {
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** Whether a command may start the gateway that it needs. Default: it may not. */
  readonly mayStart?: boolean
}

/** Hands a command's work to the process: what it resolves to becomes the exit code. */
export type Run = (work: (io: Io) => Promise<number>) => Promise<void>

export const paintOf = (io: Io, stream: Output): Paint => createPaint(wantsColour(stream, io.env))

/** Columns of the terminal; a pipe gets whole lines, however wide. */
export const widthOf = (stream: Output): number =>
  stream.isTTY === true ? (stream.columns ?? 80) : Number.MAX_SAFE_INTEGER

/** Whether a person sits at both ends. */
export const isInteractive = ({ stdin, stdout }: Io): boolean => stdin.isTTY === true && stdout.isTTY === true

export function print(stream: Output, lines: readonly string[] | string): void {
  const text = typeof lines === 'string' ? lines : lines.join('\n')
  stream.write(`${text}\n`)
}

export const printJson = (io: Io, value: unknown): void => print(io.stdout, JSON.stringify(value, undefined, 2))

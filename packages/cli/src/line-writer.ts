import { once } from 'node:events'
import type { Output } from './cli-context.js'

/** Writes lines to a pipe. It returns a promise while the pipe is full. */
export function lineWriter(stream: Output): (line: string) => Promise<void> | undefined {
  let full: Promise<void> | undefined
  return function writeLine(line) {
    if (stream.write(`${line}\n`)) return undefined
    full ??= once(stream, 'drain').then(() => {
      full = undefined
    })
    return full
  }
}

import { once } from 'node:events'
import type { Output } from './io.js'

/** Writes lines to a pipe; the promise is there while its reader does not keep up. */
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

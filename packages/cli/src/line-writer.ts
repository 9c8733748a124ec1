import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Characters that are joined before they are written, whatever else comes. */
const JOINED_CHARS_MAX = 64 << 10

/**
 * Writes lines to a pipe. Those of one turn of the event loop are one write: a system call costs more than a line of an agent that
 * streams. The function returns a promise while the pipe is full.
 */
export function lineWriter(stream: Writable): (line: string) => Promise<void> | undefined {
  let joined = ''
  let full: Promise<void> | undefined
  function flush(): void {
    if (joined === '') return
    const text = joined
    joined = ''
    if (!stream.write(text)) full ??= untilDrained()
  }
  function untilDrained(): Promise<void> {
    const drained = once(stream, 'drain').then(() => {
      full = undefined
    })
    // It may be that nothing was written since; the next one who writes gets the failure.
    drained.catch(() => {})
    return drained
  }
  return function writeLine(line) {
    if (joined === '') setImmediate(flush)
    joined += `${line}\n`
    if (joined.length >= JOINED_CHARS_MAX) flush()
    return full
  }
}

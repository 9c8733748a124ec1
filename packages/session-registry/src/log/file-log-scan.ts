import { open } from 'node:fs/promises'
import type { EventRecord, LogCondition } from '@agentproto/contracts/agent'
import { wholeRecordOf } from './event-record.js'

/** Reads a log file from its beginning to its end, in pieces, without writing to it. */

const READ_BYTES = 256 * 1024
/** A line longer than any event is not collected. */
const MAX_LINE_BYTES = 64 * 1024 * 1024
const NEWLINE = 10

/** The events, one batch for each read; lines that are not a whole event are left out. */
export async function* scanLog(path: string): AsyncGenerator<readonly EventRecord[]> {
  for await (const lines of linesOf(path)) {
    const records = lines.flatMap(({ text }) => wholeRecordOf(text) ?? [])
    if (records.length > 0) yield records
  }
}

/** Reads every line and reports what is damaged. */
export async function inspectLog(path: string): Promise<LogCondition> {
  const unreadable: number[] = []
  let last = 0
  let tornBytes = 0
  for await (const lines of linesOf(path, true)) {
    for (const { text, bytes, whole } of lines) {
      const record = whole ? wholeRecordOf(text) : undefined
      if (record === undefined) {
        tornBytes += bytes
        continue
      }
      // A damaged line before a whole event is lost; bytes after the last whole event are torn.
      for (let seq = last + 1; seq < record.seq && unreadable.length < MAX_REPORTED; seq += 1) unreadable.push(seq)
      last = record.seq
      tornBytes = 0
    }
  }
  const torn = tornBytes === 0 ? {} : { torn: `${tornBytes} bytes after event ${last} are not a whole event` }
  return { unreadable, ...torn }
}

const MAX_REPORTED = 1_000

interface Line {
  readonly text: string
  readonly bytes: number
  /** Whether it ends with a newline. */
  readonly whole: boolean
}

async function* linesOf(path: string, withRest = false): AsyncGenerator<readonly Line[]> {
  const file = await open(path, 'r').catch(absent)
  if (file === undefined) return
  try {
    let rest: Buffer = Buffer.alloc(0)
    for (let at = 0; ;) {
      const chunk = Buffer.allocUnsafe(READ_BYTES)
      const { bytesRead } = await file.read(chunk, 0, READ_BYTES, at)
      if (bytesRead === 0) break
      at += bytesRead
      const piece = chunk.subarray(0, bytesRead)
      const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      const end = bytes.lastIndexOf(NEWLINE) + 1
      if (end > 0) yield split(bytes.subarray(0, end))
      rest = bytes.length - end > MAX_LINE_BYTES ? Buffer.alloc(0) : bytes.subarray(end)
    }
    if (withRest && rest.length > 0) yield [{ text: rest.toString(), bytes: rest.length, whole: false }]
  } finally {
    await file.close()
  }
}

function split(bytes: Buffer): readonly Line[] {
  const lines: Line[] = []
  for (let from = 0; from < bytes.length;) {
    const eol = bytes.indexOf(NEWLINE, from)
    lines.push({ text: bytes.toString('utf8', from, eol), bytes: eol + 1 - from, whole: true })
    from = eol + 1
  }
  return lines
}

/** For a `catch`: a file that does not exist is undefined. */
export function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

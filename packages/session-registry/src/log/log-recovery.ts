import { open, writeFile, type FileHandle } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { wholeRecordOf } from './event-record.js'
import { absent } from './file-log-scan.js'

/**
 * Prepares a log file for appending: reads its last sequence number from the disk, moves what follows the last whole event
 * aside (a line that a crash tore, zeros that a power cut left), and reports it.
 */

const BLOCK = 64 * 1024

export async function recoverTail(path: string): Promise<{ lastSeq: number; repairs: readonly string[] }> {
  const file = await open(path, 'r+').catch(absent)
  if (file === undefined) return { lastSeq: 0, repairs: [] }
  try {
    const { size } = await file.stat()
    const { end, lastSeq } = await lastWholeEvent(file, size)
    if (end === size) return { lastSeq, repairs: [] }
    const torn = await readRange(file, end, size)
    const aside = `${path}.torn-${end}`
    await writeFile(aside, torn, { mode: 0o600 })
    await file.truncate(end)
    return {
      lastSeq,
      repairs: [`${size - end} bytes after event ${lastSeq} were not a whole event and were moved to ${aside}`],
    }
  } finally {
    await file.close()
  }
}

/** Walks back line by line from the end until a line is an event. */
async function lastWholeEvent(file: FileHandle, size: number): Promise<{ end: number; lastSeq: number }> {
  let end = await lineEndBefore(file, size)
  while (end > 0) {
    const start = await lineEndBefore(file, end - 1)
    const record = wholeRecordOf((await readRange(file, start, end - 1)).toString('utf8'))
    if (record !== undefined) return { end, lastSeq: record.seq }
    // More than one line is broken: go on, so that the whole events before it stay readable.
    end = start
  }
  return { end: 0, lastSeq: 0 }
}

/** The offset just after the last newline before `limit`; 0 when there is none. */
async function lineEndBefore(file: FileHandle, limit: number): Promise<number> {
  for (let to = limit; to > 0; to -= BLOCK) {
    const from = Math.max(0, to - BLOCK)
    const at = (await readRange(file, from, to)).lastIndexOf(10)
    if (at >= 0) return from + at + 1
  }
  return 0
}

async function readRange(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.alloc(to - from)
  const { bytesRead } = await file.read(buffer, 0, to - from, from)
  if (bytesRead !== to - from)
    throw new AgentprotoError('storage_failed', 'The event log changed while it was recovered')
  return buffer
}

import { closeSync, fdatasync, fstatSync, ftruncateSync, mkdirSync, openSync, read, writeSync } from 'node:fs'
import { rm, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { AgentprotoError } from '@agentproto/contracts'
import type { EventBatch, EventRecord, EventStore, LogCondition, StoredLog } from '@agentproto/contracts/agent'
import { outOfOrder, recordOf, wholeRecordOf } from './event-record.js'
import { inspectLog, scanLog } from './file-log-scan.js'
import { LineIndex } from './line-index.js'
import { recoverTail } from './log-recovery.js'
import { assertSessionId } from '../records/session-id.js'
import { storageFailed } from '../records/stored-file.js'

/**
 * `sessions/<id>/events.jsonl`: one event per line; line n holds seq n.
 *
 * A batch is one synchronous `write`: it reaches the kernel before any reader sees the events, so a killed
 * host loses nothing that was seen, and it costs a few microseconds where a trip through the thread pool
 * costs a hundred. See docs/decisions/synchronous-append.md.
 */

export interface FileEventStoreOptions {
  /** The `sessions` directory. */
  readonly directory: string
  /** `kernel` survives the end of this process; `disk` adds fdatasync and survives a power cut. */
  readonly durability?: 'kernel' | 'disk'
}

const READ_BYTES = 256 * 1024
const readAt = promisify(read)
const syncData = promisify(fdatasync)

export class FileEventStore implements EventStore {
  readonly #options: FileEventStoreOptions

  constructor(options: FileEventStoreOptions) {
    this.#options = options
  }

  async open(sessionId: string): Promise<{ log: StoredLog; repairs: readonly string[] }> {
    const path = this.#path(sessionId)
    try {
      makeFolder(dirname(path))
      const { lastSeq, repairs } = await recoverTail(path)
      const fd = openSync(path, 'a+', 0o600)
      return { log: new FileStoredLog(fd, lastSeq, this.#options.durability === 'disk'), repairs }
    } catch (cause) {
      throw storageFailed('The event log could not be opened', cause)
    }
  }

  scan(sessionId: string): AsyncIterable<readonly EventRecord[]> {
    return scanLog(this.#path(sessionId))
  }

  inspect(sessionId: string): Promise<LogCondition> {
    return inspectLog(this.#path(sessionId))
  }

  async delete(sessionId: string): Promise<void> {
    await rm(this.#path(sessionId), { force: true })
    // A folder with more files belongs to a session, whose store removes it.
    await rmdir(dirname(this.#path(sessionId))).catch(() => undefined)
  }

  #path(sessionId: string): string {
    return join(this.#options.directory, assertSessionId(sessionId), 'events.jsonl')
  }
}

class FileStoredLog implements StoredLog {
  readonly #fd: number
  readonly #sync: boolean
  readonly #index: LineIndex
  /** Lines before this offset were written by an earlier host and may be damaged; lines after it were written here. */
  readonly #ours: number
  #size: number
  /** Whether the file has bytes of a failed batch after its size. */
  #hasRest = false
  lastSeq: number
  #closed = false
  #fdClosed = false
  #last: Promise<unknown> = Promise.resolve()
  #uses = 0

  constructor(fd: number, lastSeq: number, sync: boolean) {
    this.#fd = fd
    this.#sync = sync
    this.#ours = this.#size = fstatSync(fd).size
    this.lastSeq = lastSeq
    this.#index = new LineIndex()
  }

  append(batch: readonly EventRecord[]): Promise<void> {
    if (!this.#sync) return this.#append(batch)
    // One at a time: the next batch follows this one only if the disk has it.
    const turn = this.#last.then(() => this.#append(batch))
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #append(batch: readonly EventRecord[]): Promise<void> {
    const first = batch[0]
    if (first === undefined) return
    if (this.#closed) throw new AgentprotoError('storage_failed', 'The event log is closed')
    if (first.seq !== this.lastSeq + 1) throw outOfOrder(first.seq, this.lastSeq)
    let text = ''
    for (const record of batch) text += `${record.json}\n`
    const bytes = Buffer.from(text)
    this.#write(bytes)
    if (this.#sync) await this.#flush()
    if (first.seq >= this.#index.nextSeq) this.#index.add(first.seq, this.#size)
    this.#size += bytes.length
    this.lastSeq += batch.length
  }

  async read(after: number, limit: number): Promise<EventBatch> {
    const stored = this.lastSeq
    if (after >= stored || limit < 1 || this.#closed) return { records: [] }
    this.#uses += 1
    try {
      const records = await this.#readAfter(after, limit)
      const first = records[0]?.seq ?? stored + 1
      return first === after + 1 ? { records } : { records, gap: { after, first } }
    } finally {
      this.#uses -= 1
      this.#closeWhenIdle()
    }
  }

  close(): Promise<void> {
    this.#closed = true
    this.#closeWhenIdle()
    return Promise.resolve()
  }

  #write(bytes: Buffer): void {
    try {
      if (this.#hasRest) this.#truncate()
      for (let done = 0; done < bytes.length;) {
        done += writeSync(this.#fd, bytes, done)
        this.#hasRest = true
      }
      this.#hasRest = false
    } catch (cause) {
      this.#discard()
      throw storageFailed('The event log could not be written', cause)
    }
  }

  async #flush(): Promise<void> {
    this.#uses += 1
    try {
      await syncData(this.#fd)
    } catch (cause) {
      this.#hasRest = true
      this.#discard()
      throw storageFailed('The event log could not be flushed to the disk', cause)
    } finally {
      this.#uses -= 1
      this.#closeWhenIdle()
    }
  }

  /** Truncates what a failed batch has left: the next one must not follow half a line. If that fails too, the next one tries again. */
  #discard(): void {
    try {
      if (this.#hasRest) this.#truncate()
    } catch {
      // The caller gets the error of the write.
    }
  }

  #truncate(): void {
    ftruncateSync(this.#fd, this.#size)
    this.#hasRest = false
  }

  async #readAfter(after: number, limit: number): Promise<EventRecord[]> {
    const start = this.#index.at(after + 1)
    const skip = after + 1 - start.seq
    const records = await this.#readFrom(start.offset, { after, limit, skip, records: [] })
    // If damage removed a line break, there are too few lines to count by: whole events would be skipped.
    if (skip === 0 || records[0]?.seq === after + 1) return records
    return this.#readFrom(start.offset, { after, limit, skip: 0, records: [] })
  }

  async #readFrom(offset: number, reading: Reading): Promise<EventRecord[]> {
    const { records } = reading
    let at = offset
    let rest: Buffer = Buffer.alloc(0)
    const end = this.#size
    // One chunk with events is a batch: a reader starts instead of waiting for its limit.
    while (records.length === 0 && at < end) {
      const chunk = await this.#chunk(at, Math.min(READ_BYTES, end - at))
      if (chunk.length === 0) break
      at += chunk.length
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
      const parse = at - bytes.length < this.#ours ? wholeRecordOf : recordOf
      rest = bytes.subarray(takeLines(bytes, parse, reading))
    }
    this.#index.hint(records, at - rest.length)
    return records
  }

  async #chunk(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length)
    const { bytesRead } = await readAt(this.#fd, buffer, 0, length, position)
    return buffer.subarray(0, bytesRead)
  }

  /** A read or a flush that is under way keeps the descriptor: a number that is reused would read another file. */
  #closeWhenIdle(): void {
    if (!this.#closed || this.#uses > 0 || this.#fdClosed) return
    this.#fdClosed = true
    this.#discard()
    closeSync(this.#fd)
  }
}

/** Not created recursively: Node would then report ENOENT, whatever the reason. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') mkdirSync(path, { recursive: true, mode: 0o700 })
    else if (code !== 'EEXIST') throw error
  }
}

interface Reading {
  /** Only events after this one, at most `limit` of them. */
  readonly after: number
  readonly limit: number
  /** Lines that are still to be skipped. */
  skip: number
  readonly records: EventRecord[]
}

/** @returns where the first line begins that was not taken */
function takeLines(bytes: Buffer, parse: typeof recordOf, reading: Reading): number {
  const { after, limit, records } = reading
  let from = 0
  for (let eol = bytes.indexOf(10); eol >= 0 && records.length < limit; eol = bytes.indexOf(10, from)) {
    const record = reading.skip > 0 ? undefined : parse(bytes.toString('utf8', from, eol))
    // A line that is not an event is a gap: the next read begins with it and reports it.
    if (reading.skip > 0) reading.skip -= 1
    else if (record === undefined && records.length > 0) break
    // If damage added a line break, lines are counted wrongly: do not return an event twice.
    else if (record !== undefined && record.seq > after) records.push(record)
    from = eol + 1
  }
  return from
}

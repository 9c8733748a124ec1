import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs'

/** What the streams of one agent may still keep, in bytes. `memory` is below zero after a chunk that had no other place. */
export interface Room {
  memory: number
  file: number
}

/** Whether more may be appended; if not, whether the bounds are reached or the file could not be written. */
export type Intake = 'open' | 'full' | 'disk'

interface Segment {
  readonly start: number
  end: number
  /** In memory; else in a file. */
  readonly bytes?: Buffer
  readonly file?: number
}

const BLOCK_BYTES = 4 << 10
/** A file is given back as a whole, so what is kept is spread over several. */
const FILE_BYTES = 64 << 20

/**
 * The bytes of a stream from the oldest that is not acknowledged to the newest, by their offset since the start. They are in
 * memory while there is room, then in files without a name, which are gone with this process however it ends.
 */
export class RetainedStream {
  first = 0
  next = 0
  intake: Intake = 'open'
  readonly #room: Room
  readonly #path: string
  #segments: Segment[] = []

  /** @param path where files are created and at once unlinked */
  constructor(room: Room, path: string) {
    this.#room = room
    this.#path = path
  }

  /** Keeps all of it: what was read from a pipe cannot be put back. Sets {@link intake}. */
  append(chunk: Buffer): void {
    const start = this.next
    this.next += chunk.length
    if (this.#fillBlock(chunk)) return
    if (this.#room.memory >= Math.max(chunk.length, BLOCK_BYTES)) return this.#toMemory(chunk, start)
    const written = this.#toFiles(chunk, start)
    if (written < chunk.length) this.#toMemory(chunk.subarray(written), start + written)
  }

  /** Up to `max` bytes from an offset that is kept; fewer than there are, where they are not in one piece. */
  slice(from: number, max: number): Buffer {
    const last = this.#segments.at(-1)
    // A reader is mostly near the end.
    const found = last && last.start <= from ? last : this.#segments.find(({ end }) => end > from)
    if (found === undefined || found.end <= from) return Buffer.alloc(0)
    const { start, end, bytes, file } = found
    const length = Math.min(max, end - from)
    if (bytes) return bytes.subarray(from - start, from - start + length)
    const into = Buffer.allocUnsafe(length)
    return into.subarray(0, file === undefined ? 0 : readSync(file, into, 0, length, from - start))
  }

  /** Forgets what is before the offset. */
  forget(upTo: number): void {
    this.first = Math.max(this.first, Math.min(upTo, this.next))
    let count = 0
    for (const segment of this.#segments) {
      if (segment.end > this.first) break
      this.#giveBack(segment)
      count++
    }
    if (count > 0) this.#segments = this.#segments.slice(count)
  }

  /** Tries again after a refusal: what had no place but memory goes to a file first. */
  reopen(): Intake {
    if (this.intake === 'open') return 'open'
    this.intake = 'open'
    const last = this.#room.memory < 0 ? this.#segments.at(-1) : undefined
    if (last?.bytes) {
      this.#segments.pop()
      this.#giveBack(last)
      this.next = last.start
      this.append(last.bytes.subarray(0, last.end - last.start))
    }
    if (this.intake === 'open' && this.#room.memory <= 0 && this.#room.file <= 0) this.intake = 'full'
    return this.intake
  }

  #fillBlock(chunk: Buffer): boolean {
    const last = this.#segments.at(-1)
    if (!last?.bytes || last.end - last.start + chunk.length > last.bytes.length) return false
    chunk.copy(last.bytes, last.end - last.start)
    last.end += chunk.length
    return true
  }

  #toMemory(chunk: Buffer, start: number): void {
    // A view of a larger buffer would keep all of that.
    const bytes = Buffer.allocUnsafeSlow(Math.max(chunk.length, BLOCK_BYTES))
    chunk.copy(bytes)
    this.#room.memory -= bytes.length
    this.#segments.push({ start, end: start + chunk.length, bytes })
  }

  /** How many bytes have a place in files now. */
  #toFiles(chunk: Buffer, start: number): number {
    let done = 0
    try {
      while (done < chunk.length) {
        const segment = this.#openFile(start + done)
        if (segment === undefined) break
        const size = segment.end - segment.start
        const length = Math.min(chunk.length - done, FILE_BYTES - size, this.#room.file)
        const written = writeSync(segment.file ?? -1, chunk, done, length, size)
        segment.end += written
        this.#room.file -= written
        done += written
      }
      if (done < chunk.length) this.intake = 'full'
    } catch {
      this.intake = 'disk'
    }
    return done
  }

  #openFile(start: number): Segment | undefined {
    if (this.#room.file <= 0) return undefined
    const last = this.#segments.at(-1)
    if (last?.file !== undefined && last.end - last.start < FILE_BYTES) return last
    const file = openSync(this.#path, 'wx+', 0o600)
    unlinkSync(this.#path)
    const segment = { start, end: start, file }
    this.#segments.push(segment)
    return segment
  }

  #giveBack({ start, end, bytes, file }: Segment): void {
    if (bytes) this.#room.memory += bytes.length
    if (file === undefined) return
    this.#room.file += end - start
    closeSync(file)
  }
}

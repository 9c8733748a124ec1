import type { Readable } from 'node:stream'

/** Longest line that is kept, in bytes. Agents send 1 MiB in one line; 64 KiB limits break them. */
export const MAX_LINE_BYTES = 64 << 20

const NEWLINE = 10

/** What turns chunks into lines. */
interface Framing {
  push(chunk: Buffer): string[]
  end(): string[]
}

export type TakeLines = (lines: readonly string[]) => void | Promise<void>

/** Passes on the lines of a pipe, one batch a read, and reads nothing more while a batch is being handled. */
export class OutputPump {
  /** Settles when everything was passed on; never rejects. */
  readonly ended: Promise<void>
  readonly #stream: Readable
  readonly #take: TakeLines
  #taking: Promise<void> | undefined
  /** What came while a batch was being handled; at most what one pipe and its stream hold. */
  #waiting: string[] = []
  /** Number of reads. */
  reads = 0

  constructor(stream: Readable, framing: Framing, take: TakeLines) {
    this.#stream = stream
    this.#take = take
    stream.on('data', (chunk: Buffer) => {
      this.reads++
      this.#hand(framing.push(chunk))
    })
    // A read error is followed by 'close', which is all that matters here.
    stream.on('error', () => {})
    this.ended = new Promise((resolve) => {
      stream.once('close', () => {
        this.#hand(framing.end())
        resolve(this.#allTaken())
      })
    })
  }

  /** Whether a batch is being handled. */
  get held(): boolean {
    return this.#taking !== undefined
  }

  /** Drops what is still in the pipe. */
  stop(): void {
    this.#stream.destroy()
  }

  #hand(lines: readonly string[]): void {
    if (lines.length === 0) return
    if (this.#taking) {
      // Node resumes the pipes of a process that ended, paused or not.
      for (const line of lines) this.#waiting.push(line)
      this.#stream.pause()
      return
    }
    const taking = this.#take(lines)
    if (!taking) return
    this.#stream.pause()
    const release = this.#release.bind(this)
    // A failing handler must not stop the reading.
    this.#taking = taking.then(release, release)
  }

  #release(): void {
    this.#taking = undefined
    const next = this.#waiting
    this.#waiting = []
    this.#hand(next)
    if (!this.#taking) this.#stream.resume()
  }

  async #allTaken(): Promise<void> {
    while (this.#taking) await this.#taking
  }
}

/**
 * Cuts a byte stream into lines. The complete lines of a chunk are decoded in one go: a newline byte is
 * never part of a longer UTF-8 sequence, so cutting there is safe.
 */
export class LineSplitter {
  #parts: Buffer[] = []
  #size = 0
  /** Bytes of an oversize line that were thrown away so far; its end is still to come. */
  #dropped = 0
  readonly #max: number
  readonly #onOversize: (bytes: number) => void

  /** @param max longest line in bytes; one that spans reads and is longer is dropped and reported with its length */
  constructor(max: number, onOversize: (bytes: number) => void) {
    this.#max = max
    this.#onOversize = onOversize
  }

  /** The lines that this chunk completes. */
  push(chunk: Buffer): string[] {
    const first = chunk.indexOf(NEWLINE)
    if (first < 0) {
      this.#keep(chunk)
      return []
    }
    const last = chunk.lastIndexOf(NEWLINE)
    const head = this.#size + this.#dropped > 0 ? this.#complete(chunk.subarray(0, first)) : undefined
    const from = head === undefined ? 0 : first + 1
    const lines = from > last ? [] : chunk.toString('utf8', from, last).split('\n')
    if (last + 1 < chunk.length) this.#keep(chunk.subarray(last + 1))
    return head === undefined ? lines : head.concat(lines)
  }

  /** What came after the last newline, once the stream has ended. */
  end(): string[] {
    return this.#size + this.#dropped > 0 ? this.#complete(Buffer.alloc(0)) : []
  }

  #keep(chunk: Buffer): void {
    if (this.#dropped === 0 && this.#size + chunk.length <= this.#max) {
      this.#parts.push(chunk)
      this.#size += chunk.length
      return
    }
    this.#dropped += this.#size + chunk.length
    this.#parts = []
    this.#size = 0
  }

  #complete(rest: Buffer): string[] {
    this.#keep(rest)
    const { length } = this.#parts
    const line = length === 1 ? this.#parts[0] : Buffer.concat(this.#parts)
    const dropped = this.#dropped
    this.#parts = []
    this.#size = 0
    this.#dropped = 0
    if (dropped === 0) return [line?.toString('utf8') ?? '']
    this.#onOversize(dropped)
    return []
  }
}

import type { Readable } from 'node:stream'

/** Longest line that is kept, in bytes. Agents send 1 MiB in one line; 64 KiB limits break them. */
export const MAX_LINE_BYTES = 64 << 20

const NEWLINE = 10

/** What turns chunks into lines. */
interface Framing {
  /** Bytes of what was pushed that no returned line has. */
  readonly pending: number
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
  /** What came while a batch was being handled, with where it ends; at most what one pipe and its stream hold. */
  #waiting: string[] = []
  #waitingUpTo = 0
  readonly #goals = new Map<() => void, number>()
  #isClosed = false
  /** Number of reads. */
  reads = 0
  /** Bytes that were read. */
  size = 0
  /** Bytes up to the end of the last line that was passed on; its batch may still be being handled. */
  passed = 0

  constructor(stream: Readable, framing: Framing, take: TakeLines) {
    this.#stream = stream
    this.#take = take
    stream.on('data', (chunk: Buffer) => {
      this.reads++
      this.size += chunk.length
      const lines = framing.push(chunk)
      this.#hand(lines, this.size - framing.pending)
    })
    // A read error is followed by 'close', which is all that matters here.
    stream.on('error', () => {})
    this.ended = new Promise((resolve) => {
      stream.once('close', () => {
        this.#isClosed = true
        this.#hand(framing.end(), this.size)
        resolve(this.#allTaken())
      })
    })
  }

  /** Whether a batch is being handled. */
  get held(): boolean {
    return this.#taking !== undefined
  }

  /** Settles when the lines of so many bytes were passed on, or all that there are. */
  reached(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      this.#goals.set(resolve, bytes)
      this.#lookAtGoals()
    })
  }

  /** Drops what is still in the pipe. */
  stop(): void {
    this.#stream.destroy()
  }

  #hand(lines: readonly string[], upTo: number): void {
    if (this.#taking) {
      // Node resumes the pipes of a process that ended, paused or not.
      for (const line of lines) this.#waiting.push(line)
      this.#waitingUpTo = upTo
      this.#stream.pause()
      return
    }
    this.passed = upTo
    if (lines.length > 0) this.#pass(lines)
    this.#lookAtGoals()
  }

  #pass(lines: readonly string[]): void {
    const taking = this.#take(lines)
    if (!taking) return
    this.#waitingUpTo = this.passed
    this.#stream.pause()
    const release = this.#release.bind(this)
    // A failing handler must not stop the reading.
    this.#taking = taking.then(release, release)
  }

  #release(): void {
    this.#taking = undefined
    const next = this.#waiting
    this.#waiting = []
    this.#hand(next, this.#waitingUpTo)
    if (!this.#taking) this.#stream.resume()
  }

  #lookAtGoals(): void {
    if (this.#goals.size === 0 || this.#waiting.length > 0) return
    for (const [reached, bytes] of this.#goals) {
      if (this.size < bytes && !this.#isClosed) continue
      this.#goals.delete(reached)
      reached()
    }
  }

  async #allTaken(): Promise<void> {
    while (this.#taking) await this.#taking
    this.#lookAtGoals()
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

  get pending(): number {
    return this.#size + this.#dropped
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

import type { Readable } from 'node:stream'

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
    const release = (): void => this.#release()
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

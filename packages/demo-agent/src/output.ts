import type { Writable } from 'node:stream'

/**
 * The one path to stdout. Everything said within one turn of the event loop leaves in one write, in
 * order; nothing else may write to the stream, or messages could be torn or reordered.
 */
export class Output {
  readonly #stream: Writable
  #queued = ''
  #scheduled = false
  #drained: Promise<void> | undefined

  constructor(stream: Writable) {
    this.#stream = stream
  }

  /** Queues one JSON-RPC message. */
  message(message: unknown): void {
    this.raw(`${JSON.stringify(message)}\n`)
  }

  /** Queues text as it is: whole lines, or half of one. */
  raw(text: string): void {
    this.#queued += text
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => this.#write())
  }

  /** Settles when the peer has taken enough for more to be queued, and at least one loop turn later. */
  async room(): Promise<void> {
    this.#write()
    await (this.#drained ?? new Promise<void>((resolve) => setImmediate(resolve)))
  }

  /** Hands over everything queued, then calls back; also when the peer is gone. */
  flush(done: () => void): void {
    this.#write()
    this.#stream.write('', () => done())
  }

  #write(): void {
    this.#scheduled = false
    if (this.#queued === '') return
    const text = this.#queued
    this.#queued = ''
    if (!this.#stream.write(text))
      this.#drained ??= nextDrain(this.#stream).then(() => void (this.#drained = undefined))
  }
}

/** A stream that closes never drains: both end the wait. */
function nextDrain(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    function settle(): void {
      stream.off('drain', settle)
      stream.off('close', settle)
      resolve()
    }
    stream.once('drain', settle)
    stream.once('close', settle)
  })
}

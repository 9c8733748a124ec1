import type { Writable } from 'node:stream'

/** Writes lines to a process that may be slow, or may have ended. */
export class StdinWriter {
  readonly #stdin: Writable
  #drained: Promise<void> | undefined

  /** @param onBroken called when the pipe broke without being closed by us */
  constructor(stdin: Writable, onBroken: (error: Error) => void) {
    this.#stdin = stdin
    // Without a listener, EPIPE would end the host.
    stdin.on('error', onBroken)
  }

  /** Writes one line; returns a promise while the pipe is full. A broken pipe drops the line. */
  write(line: string): void | Promise<void> {
    if (!this.#stdin.writable) return
    if (this.#stdin.write(`${line}\n`)) return
    return (this.#drained ??= this.#untilDrained())
  }

  end(): void {
    if (this.#stdin.writable) this.#stdin.end()
  }

  #untilDrained(): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#stdin.off('drain', done).off('close', done)
        this.#drained = undefined
        resolve()
      }
      this.#stdin.on('drain', done).on('close', done)
    })
  }
}

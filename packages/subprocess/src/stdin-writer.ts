import type { Writable } from 'node:stream'

/** Writes lines to a process that may be slow, or gone. */
export class StdinWriter {
  readonly #stdin: Writable
  #drained: Promise<void> | undefined

  /** @param onBroken the pipe broke although it was not we who ended it */
  constructor(stdin: Writable, onBroken: (error: Error) => void) {
    this.#stdin = stdin
    // Without a listener an EPIPE would end the host.
    stdin.on('error', onBroken)
  }

  /** Writes one line; a promise is returned while the pipe is full. A broken pipe swallows it. */
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

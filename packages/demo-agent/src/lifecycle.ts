import type { Readable } from 'node:stream'
import type { Output } from './output.js'

/** Longest wait for a peer that takes nothing more, in milliseconds. */
const FLUSH_LIMIT_MS = 500
const SIGNALS = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const

export interface LifecycleOptions {
  readonly input: Readable
  readonly output: Output
  /** Called once before an orderly end. */
  readonly beforeExit: () => void
}

/** When the process ends. */
export class Lifecycle {
  readonly #options: LifecycleOptions
  #stubborn = false
  #ending = false

  constructor(options: LifecycleOptions) {
    this.#options = options
    for (const [signal, exitCode] of Object.entries(SIGNALS)) process.on(signal, () => this.#end(exitCode))
    options.input.once('close', () => this.#end(0))
    options.input.once('end', () => this.#end(0))
    // A client that is gone is noticed by the end of stdin; what is still written to it is lost.
    process.stdout.on('error', () => this.#end(0))
  }

  get stubborn(): boolean {
    return this.#stubborn
  }

  /** From now on neither the end of stdin nor a polite signal ends the process. */
  becomeStubborn(): void {
    this.#stubborn = true
    // Once stdin has ended, nothing else would keep the process alive.
    setInterval(() => {}, 60_000)
  }

  #end(exitCode: number): void {
    if (this.#stubborn || this.#ending) return
    this.#ending = true
    this.#options.beforeExit()
    setTimeout(() => process.exit(exitCode), FLUSH_LIMIT_MS)
    this.#options.output.flush(() => process.exit(exitCode))
  }
}

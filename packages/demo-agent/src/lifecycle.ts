import type { Readable } from 'node:stream'
import type { Output } from './output.js'

/** Longest wait for a peer that takes nothing more, in milliseconds. */
const FLUSH_LIMIT_MS = 500
const SIGNALS = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const

/** When the process ends. */
export interface Lifecycle {
  readonly stubborn: boolean
  /** From now on neither the end of stdin nor a polite signal ends the process. */
  becomeStubborn(): void
}

export interface LifecycleOptions {
  readonly input: Readable
  readonly output: Output
  /** Called once before an orderly end. */
  readonly beforeExit: () => void
}

export function createLifecycle({ input, output, beforeExit }: LifecycleOptions): Lifecycle {
  let stubborn = false
  let ending = false

  function end(exitCode: number): void {
    if (stubborn || ending) return
    ending = true
    beforeExit()
    setTimeout(() => process.exit(exitCode), FLUSH_LIMIT_MS)
    output.flush(() => process.exit(exitCode))
  }

  for (const [signal, exitCode] of Object.entries(SIGNALS)) process.on(signal, () => end(exitCode))
  input.once('close', () => end(0))
  input.once('end', () => end(0))
  // A client that is gone is noticed by the end of stdin; what is still written to it is lost.
  process.stdout.on('error', () => end(0))

  return {
    get stubborn() {
      return stubborn
    },
    becomeStubborn() {
      stubborn = true
      // Once stdin has ended, nothing else would keep the process alive.
      setInterval(() => {}, 60_000)
    },
  }
}

import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { AgentProcessInfo, ProcessExit } from '@agentproto/contracts/agent'
import { identify } from './process-table.js'
import type { ProcessPipes } from './process-pipes.js'

/** The pipes of a child of this host. */
export class ChildPipes implements ProcessPipes {
  readonly info: AgentProcessInfo
  readonly exit: Promise<ProcessExit>
  readonly begun = Promise.resolve()
  readonly foreign = undefined
  readonly #child: ChildProcessWithoutNullStreams
  /** Settles when a full stdin can be written to again. */
  #drained: Promise<void> | undefined

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    this.info = identity(child.pid ?? 0)
    this.exit = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(exitOf(code, signal)))
    })
  }

  get stdout(): Readable {
    return this.#child.stdout
  }

  get stderr(): Readable {
    return this.#child.stderr
  }

  write(text: string): void | Promise<void> {
    const { stdin } = this.#child
    if (!stdin.writable || stdin.write(text)) return
    return (this.#drained ??= this.#untilDrained())
  }

  endInput(): void {
    const { stdin } = this.#child
    if (stdin.writable) stdin.end()
  }

  onBroken(listener: (reason: string) => void): void {
    // Without a listener, EPIPE would end the host.
    this.#child.stdin.on('error', (error) => listener(`its stdin broke: ${error.message}`))
  }

  gone(): void {}

  #untilDrained(): Promise<void> {
    const { stdin } = this.#child
    return new Promise((resolve) => {
      const done = (): void => {
        stdin.off('drain', done).off('close', done)
        this.#drained = undefined
        resolve()
      }
      stdin.on('drain', done).on('close', done)
    })
  }
}

// A zombie has no row. An empty start time matches no process, so that none is signalled by mistake.
const identity = (pid: number): AgentProcessInfo => identify(pid) ?? { pid, startTime: '' }

// Node gives null for what does not apply.
const exitOf = (code: number | null, signal: string | null): ProcessExit => ({
  ...(code === null ? {} : { exitCode: code }),
  ...(signal === null ? {} : { signal }),
})

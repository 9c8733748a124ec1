import type { Clock, Timer } from '@agentproto/contracts'
import type { Bounds } from './bounds.js'
import { markedPids, startTimeOf } from './process-identity.js'
import { Refusal } from './refusal.js'
import { RetainedStream } from './retained-stream.js'
import type { Intake } from './retained-stream.js'
import type { RunningChild } from './spawn-child.js'

export const STREAMS = ['stdin', 'stdout', 'stderr'] as const
export type StreamName = (typeof STREAMS)[number]
const OUTPUTS = ['stdout', 'stderr'] as const

/** How long after a failed write of a file the next one is tried, in milliseconds. */
const DISK_RETRY_MS = 5_000

export interface HeldAgentOptions {
  readonly key: string
  readonly marker: string
  readonly facts: string
  readonly bounds: Bounds
  readonly clock: Clock
  /** Where files are created, without the stream's name. */
  readonly path: string
  /** Something of the agent changed: bytes of a stream, or the whole. */
  readonly onBytes: (stream: StreamName) => void
  readonly onEvent: (event: object) => void
}

/** One agent: its process, what is kept of its three streams, and what the gateway says of it. */
export class HeldAgent {
  readonly key: string
  readonly marker: string
  facts: string
  isBusy = false
  exit: { readonly exitCode: number | null; readonly signal: string | null } | undefined
  readonly streams: Readonly<Record<StreamName, RetainedStream>>
  readonly ended: Record<StreamName, boolean> = { stdin: false, stdout: false, stderr: false }
  readonly #child: RunningChild
  readonly #options: HeldAgentOptions
  readonly #startTime: string
  /** How much of stdin the kernel has taken. */
  #delivered = 0
  #retry: Timer | undefined

  constructor(child: RunningChild, options: HeldAgentOptions) {
    this.#child = child
    this.#options = options
    this.key = options.key
    this.marker = options.marker
    this.facts = options.facts
    this.#startTime = startTimeOf(child.pid)
    const room = { memory: options.bounds.memoryBytes, file: options.bounds.fileBytes }
    const retained = (name: StreamName): RetainedStream => new RetainedStream(room, `${options.path}.${name}`)
    this.streams = { stdin: retained('stdin'), stdout: retained('stdout'), stderr: retained('stderr') }
    for (const name of OUTPUTS) this.#readFrom(name)
    child.stdin.on('error', () => {}).on('close', () => this.#end('stdin'))
    child.once('exit', (exitCode, signal) => {
      this.exit = { exitCode, signal }
      options.onEvent({ push: 'exit', key: this.key, exit: this.exit })
    })
  }

  /** What `list` says. */
  describe(): object {
    const range = (name: StreamName): object => {
      const { first, next, intake } = this.streams[name]
      return { first, next, ended: this.ended[name], intake }
    }
    const streams = { stdin: range('stdin'), stdout: range('stdout'), stderr: range('stderr') }
    const { key, facts, isBusy: busy, exit } = this
    return {
      key,
      pid: this.#child.pid,
      startTime: this.#startTime,
      facts,
      busy,
      delivered: this.#delivered,
      streams,
      exit,
    }
  }

  /** Accepts bytes for stdin if the caller knows all that was accepted before. */
  write(at: number, bytes: Buffer): { readonly next: number; readonly delivered: number } {
    const { stdin } = this.streams
    if (at !== stdin.next) throw new Refusal('offset_invalid', { next: stdin.next })
    if (this.ended.stdin || !this.#child.stdin.writable) throw new Refusal('input_closed')
    const waiting = stdin.next - this.#delivered
    const isFull = waiting > 0 && waiting + bytes.length > this.#options.bounds.queueBytes
    if (isFull || stdin.reopen() !== 'open') throw new Refusal('input_full', { next: stdin.next })
    stdin.append(bytes)
    this.#options.onBytes('stdin')
    const { next } = stdin
    this.#child.stdin.write(bytes, (error) => {
      if (error || this.#delivered >= next) return
      this.#delivered = next
      this.#options.onEvent({ push: 'delivered', key: this.key, upTo: next })
    })
    // Mostly, the system takes it at once: then the answer says so.
    if (this.#child.stdin.writableLength === 0 && !this.#child.stdin.errored) this.#delivered = next
    return { next, delivered: this.#delivered }
  }

  closeInput(): void {
    if (this.#child.stdin.writable) this.#child.stdin.end()
  }

  /** Forgets and remembers, both or neither. */
  acknowledge(upTo: Readonly<Record<StreamName, number>>, facts: string, isBusy: boolean): void {
    for (const name of STREAMS) {
      const { next } = this.streams[name]
      if (upTo[name] > next) throw new Refusal('offset_invalid', { stream: name, next })
    }
    for (const name of STREAMS) this.streams[name].forget(upTo[name])
    this.facts = facts
    this.isBusy = isBusy
    this.#reopen()
  }

  /** Signals the process group while its leader is ours: until it is reaped, no other process can have its number. */
  signal(name: NodeJS.Signals): boolean {
    if (this.exit) return false
    try {
      return process.kill(-this.#child.pid, name)
    } catch {
      return false
    }
  }

  /** Ends the process, its group and what has its marker. Settles when the process has ended. */
  async terminate(): Promise<void> {
    this.closeInput()
    if (!this.exit) {
      const exited = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()))
      this.#signalAll('SIGTERM')
      const timer = this.#options.clock.after(this.#options.bounds.termGraceMs, () => this.#signalAll('SIGKILL'))
      await exited
      timer.cancel()
    }
    this.#signalAll('SIGKILL')
  }

  /** Forgets all that is kept. The process has ended. */
  release(): void {
    this.#retry?.cancel()
    for (const name of STREAMS) this.streams[name].forget(Infinity)
    for (const pipe of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) pipe.destroy()
  }

  #readFrom(name: (typeof OUTPUTS)[number]): void {
    const pipe = this.#child[name]
    pipe.on('error', () => {}).on('close', () => this.#end(name))
    pipe.on('data', (chunk: Buffer) => {
      const before = this.streams[name].intake
      this.streams[name].append(chunk)
      this.#options.onBytes(name)
      this.#follow(name, before)
    })
  }

  #reopen(): void {
    for (const name of OUTPUTS) {
      const before = this.streams[name].intake
      this.streams[name].reopen()
      this.#follow(name, before)
    }
  }

  /** Where nothing more is taken in, the agent is slowed down by its own full pipe. */
  #follow(stream: (typeof OUTPUTS)[number], before: Intake): void {
    const { intake } = this.streams[stream]
    if (intake !== before) this.#options.onEvent({ push: 'intake', key: this.key, stream, intake })
    // Again, when it was paused before: Node resumes the pipes of a process that ended.
    if (intake !== 'open') this.#child[stream].pause()
    else if (before !== 'open') this.#child[stream].resume()
    if (intake !== 'disk') return
    this.#retry ??= this.#options.clock.after(DISK_RETRY_MS, () => {
      this.#retry = undefined
      this.#reopen()
    })
  }

  #end(name: StreamName): void {
    this.ended[name] = true
    this.#options.onBytes(name)
  }

  #signalAll(signal: NodeJS.Signals): void {
    this.signal(signal)
    for (const pid of markedPids(new Set([this.marker]))) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended.
      }
    }
  }
}

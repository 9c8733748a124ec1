import type { Clock } from '@agentproto/contracts'
import type { EventBatch } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'
import type { JsMsg } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { Backoff } from '../cluster/backoff.js'
import { clusterError } from '../cluster/cluster.js'
import type { Disconnects } from '../cluster/disconnects.js'
import { isDenied } from '../cluster/is-denied.js'
import { LogAssembler } from './log-assembler.js'
import { parseLogMessage } from './log-message.js'
import type { LogTail } from './log-tail.js'
import type { StoredSignatures } from '../keys/stored-signature.js'
import { SubjectReader } from './subject-reader.js'
import { until } from '../cluster/until.js'

export interface LogReaderOptions {
  readonly nats: NatsConnection
  readonly signatures: StoredSignatures
  readonly disconnects: Disconnects
  readonly clock: Clock
  readonly tail: LogTail
  readonly sessionId: string
  readonly after: number
  /** A message was refused. */
  readonly onProblem: (problem: string) => void
  readonly onClose: () => void
}

/** Reads a session's log from the fleet's, until its owner has said that it has ended. */
export class LogReader implements EventReader {
  readonly #options: LogReaderOptions
  readonly #assembler: LogAssembler
  readonly #closing = new AbortController()
  #messages: SubjectReader | undefined
  #ready: EventBatch[] = []
  /** Place in the stream of the last message that was read. */
  #streamSeq = 0
  #ended = false
  /** Whether it was reported that a right is missing. */
  #isReported = false
  #reading: Promise<void> | undefined

  constructor(options: LogReaderOptions) {
    this.#options = options
    this.#assembler = new LogAssembler(options.sessionId, options.after)
  }

  /** Place in the stream of the last message that was read; 0 before the first. */
  get streamSeq(): number {
    return this.#streamSeq
  }

  /** Whether another message can be read: its session was not forgotten here meanwhile, and its host has not left. */
  get isOpen(): boolean {
    return !this.#closing.signal.aborted && !this.#options.nats.isClosed()
  }

  async next(signal?: AbortSignal): Promise<EventBatch | undefined> {
    while (!this.#closing.signal.aborted && signal?.aborted !== true) {
      const batch = this.#ready.shift()
      if (batch !== undefined) return batch
      if (this.#ended) return undefined
      await this.read(signal)
    }
    return undefined
  }

  /** Reads one more message, or none when `signal` aborts: then the next call goes on with it. */
  async read(signal?: AbortSignal): Promise<void> {
    this.#reading ??= this.#readOne().finally(() => (this.#reading = undefined))
    await until(signal, this.#reading)
  }

  /** What was read and not given out yet. */
  takeReady(): readonly EventBatch[] {
    return this.#ready.splice(0)
  }

  close(): void {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    this.#messages?.close()
    this.#options.onClose()
  }

  async #readOne(): Promise<void> {
    this.#messages ??= await this.#open()
    const message = await this.#messages?.next()
    if (message !== undefined) this.#take(message)
  }

  async #open(): Promise<SubjectReader | undefined> {
    const { nats, disconnects, clock, tail, sessionId, after } = this.#options
    const { signal } = this.#closing
    const backoff = new Backoff(clock)
    const onFailure = (error: unknown): undefined => this.#reportDenied(error)
    while (!signal.aborted && !nats.isClosed()) {
      const from = await tail.startOf(sessionId, after).catch(onFailure)
      if (signal.aborted) return undefined
      if (from !== undefined) return new SubjectReader({ nats, disconnects, clock, sessionId, from, onFailure })
      await backoff.wait(signal)
    }
    return undefined
  }

  /** While NATS is away a reader waits; a right that is missing does not come by itself. */
  #reportDenied(error: unknown): undefined {
    if (this.#isReported || !isDenied(error)) return
    this.#isReported = true
    this.#options.onProblem(
      `The log of session ${this.#options.sessionId} cannot be read. ${clusterError(error).message}`,
    )
  }

  #take(stored: JsMsg): void {
    // A replica that lags behind begins earlier than it was asked to.
    if (stored.seq <= this.#streamSeq) return
    this.#streamSeq = stored.seq
    try {
      const { subject, headers, data } = stored
      const message = parseLogMessage({ subject, headers, body: data }, this.#options.signatures)
      this.#ready.push(...this.#assembler.take(message))
      // More after it: the session was resumed.
      this.#ended = message.kind === 'end' && stored.info.pending === 0
    } catch (error) {
      const { sessionId, onProblem } = this.#options
      const why = error instanceof Error ? error.message : String(error)
      onProblem(`Message ${stored.seq} of the log of session ${sessionId} is refused. ${why}`)
    }
  }
}

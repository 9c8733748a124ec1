import { AgentprotoError, type Clock, type SessionEvent } from '@agentproto/contracts'
import type { LogEntry } from './event-record.js'
import type { Spine } from './spine.js'

/** Writing to the log of a session that is live, and what happens when that fails. */
export interface SessionLogOptions {
  readonly sessionId: string
  readonly clock: Clock
  /** The log cannot be written: the session has to end, for nothing it does could be told any more. */
  readonly onFailure: (error: unknown) => void
  /** Takes effect of events that could not be stored. */
  readonly apply: (events: readonly SessionEvent[]) => void
}

export class SessionLog {
  readonly #options: SessionLogOptions
  #spine: Spine | undefined
  #failed = false

  constructor(options: SessionLogOptions) {
    this.#options = options
  }

  attach(spine: Spine): void {
    this.#spine = spine
    this.#failed = false
  }

  /** As {@link appendOrApply}, to the log of a session that is not live. */
  repair(spine: Spine, entries: readonly LogEntry[], turn?: number): Promise<void> {
    this.attach(spine)
    return this.appendOrApply(entries, turn)
  }

  get nextSeq(): number {
    return this.#live().nextSeq
  }

  now(): string {
    return new Date(this.#options.clock.now()).toISOString()
  }

  /** @throws `storage_failed` */
  async append(entries: readonly LogEntry[], turn?: number): Promise<void> {
    await this.#live().append(entries, turn)
  }

  /**
   * Never rejects. After a failure nothing more of the agent is logged, although there may be room again: a
   * turn with a piece missing in its middle would look whole.
   */
  async appendOrEnd(entries: readonly LogEntry[], turn?: number): Promise<void> {
    if (this.#failed) return
    try {
      await this.#live().append(entries, turn)
    } catch (error) {
      this.#failed = true
      this.#options.onFailure(error)
    }
  }

  /**
   * For what must take effect although it cannot be stored: waiters and status stay truthful. It is owed to the log, which gets it
   * before anything else once it takes something again. Never rejects.
   */
  async appendOrApply(entries: readonly LogEntry[], turn?: number): Promise<void> {
    try {
      await this.#live().append(entries, turn)
    } catch {
      const { sessionId } = this.#options
      // The numbers that they will have.
      const first = this.#spine?.nextSeq ?? 0
      this.#spine?.owe(entries, turn)
      const envelope = {
        ts: this.now(),
        sessionId,
        ...(turn === undefined ? {} : { turn }),
      }
      this.#options.apply(entries.map((entry, index) => ({ seq: first + index, ...envelope, ...entry })))
    }
  }

  #live(): Spine {
    if (this.#spine === undefined) throw new AgentprotoError('internal', 'The log of the session is not open')
    return this.#spine
  }
}

import { Backoff } from '../cluster/backoff.js'
import { clusterError } from '../cluster/cluster.js'
import { Timers } from '../cluster/timers.js'
import type { LeaseClock } from './moment.js'
import type { OwnedSession } from './owned-session.js'

export interface ClaimQueueOptions {
  readonly clock: LeaseClock
  /** Without the lease nothing is written. */
  readonly isHeld: () => boolean
  /** Brings the record of a session up to date. @throws while that is not possible: it is tried again */
  readonly save: (own: OwnedSession) => Promise<void>
  readonly onProblem: (problem: string) => void
}

/** Records that are written at the same time. */
const MAX_WRITES = 16
/** The record of a session is written at most this often, in milliseconds. */
const WRITE_MS = 200

/** Sessions whose record is to be written: some at a time, each by one call at a time, and fewer attempts while none succeeds. */
export class ClaimQueue {
  readonly #options: ClaimQueueOptions
  readonly #waiting = new Set<OwnedSession>()
  readonly #backoff: Backoff
  readonly #timers: Timers
  readonly #closing = new AbortController()
  #writes = 0
  #isPaused = false

  constructor(options: ClaimQueueOptions) {
    this.#options = options
    this.#timers = new Timers(options.clock)
    this.#backoff = new Backoff(options.clock)
  }

  add(own: OwnedSession): void {
    this.#waiting.add(own)
    this.#work()
  }

  addAll(sessions: Iterable<OwnedSession>): void {
    for (const own of sessions) this.#waiting.add(own)
    this.#work()
  }

  drop(own: OwnedSession): void {
    this.#waiting.delete(own)
  }

  close(): void {
    this.#closing.abort()
    this.#waiting.clear()
    this.#timers.close()
  }

  #work(): void {
    for (const own of this.#waiting) {
      if (this.#closing.signal.aborted || this.#isPaused || this.#writes >= MAX_WRITES) return
      if (!this.#options.isHeld()) return
      if (own.isSaving) continue
      this.#waiting.delete(own)
      void this.#save(own)
    }
  }

  async #save(own: OwnedSession): Promise<void> {
    own.isSaving = true
    this.#writes += 1
    try {
      await this.#options.save(own)
      this.#backoff.reset()
    } catch (thrown) {
      this.#pause(thrown)
      this.#readAgain(own)
    }
    this.#writes -= 1
    // A session that changes all the time is written some times a second.
    this.#timers.after(WRITE_MS, () => {
      own.isSaving = false
      // Until here it may have been the own write, of which the copy can know before its answer is here.
      if (own.isBehind) this.#readAgain(own)
      if (this.#waiting.has(own)) this.#work()
    })
    this.#work()
  }

  #readAgain(own: OwnedSession): void {
    own.mustRead = true
    this.#waiting.add(own)
  }

  #pause(thrown: unknown): void {
    if (this.#closing.signal.aborted || this.#isPaused) return
    this.#isPaused = true
    const { isHeld, onProblem } = this.#options
    if (isHeld()) onProblem(`The record of a session was not written: ${clusterError(thrown).message}`)
    void this.#backoff.wait(this.#closing.signal).then(() => {
      this.#isPaused = false
      this.#work()
    })
  }
}

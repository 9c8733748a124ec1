import type { Clock } from '@agentproto/contracts'
import { startingError } from './ending.js'
import type { Waking } from './resume.js'
import { ResumeBackoff } from './resume-backoff.js'

/** The start of a session's agent: one at a time, to be broken off, and after failures not again at once. */
export class SessionStart {
  readonly #clock: Pick<Clock, 'now'>
  readonly #backoff = new ResumeBackoff()
  #abort = new AbortController()
  #running: Promise<void> | undefined
  #isAgain = false

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** A session that had ended is being taken up again, whether or not its log has that already. */
  get isAgain(): boolean {
    return this.#isAgain
  }

  /** Resumes that failed in a row. */
  get failures(): number {
    return this.#backoff.failures
  }

  /** Aborts when the start is broken off. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  first(launch: () => Promise<void>): Promise<void> {
    this.#running = launch()
    return this.#running
  }

  /** @throws `not_resumable` while a further try has to wait, and where a person has to look first */
  assertDue(request: Waking): void {
    this.#backoff.assertDue(this.#clock.now(), request)
  }

  /** Of two at once only one starts an agent. @throws `session_starting`, and as the launch */
  async again(launch: () => Promise<void>): Promise<void> {
    if (this.#isAgain) throw startingError()
    this.#isAgain = true
    this.#abort = new AbortController()
    this.#running = launch()
    try {
      await this.#backoff.count(this.#running, this.#clock)
    } finally {
      this.#isAgain = false
    }
  }

  /** Breaks it off. */
  abort(): void {
    this.#abort.abort()
  }

  /** Resolves when no start is under way, however it went. */
  async over(): Promise<void> {
    await this.#running?.catch(() => undefined)
  }
}

import { AgentprotoError } from '@agentproto/contracts'

/**
 * What may stop a turn from outside: `--timeout` and Ctrl-C. The first stop is cooperative, so that the log shows the
 * end of the turn. The second one stops waiting.
 */
export class TurnLimits {
  readonly #abort = new AbortController()
  readonly #timer: NodeJS.Timeout | undefined
  readonly #onSignal = (): void => this.#stop(new AgentprotoError('cancelled', 'The run was interrupted'))
  #cause: AgentprotoError | undefined
  #interrupt: (() => void) | undefined
  #reject: ((cause: AgentprotoError) => void) | undefined

  /** @param timeoutSeconds No limit without it */
  constructor(timeoutSeconds: number | undefined) {
    if (timeoutSeconds !== undefined) {
      const cause = new AgentprotoError('timeout', `The turn took longer than ${timeoutSeconds} s`)
      this.#timer = setTimeout(() => this.#stop(cause), timeoutSeconds * 1_000)
    }
    process.on('SIGINT', this.#onSignal)
    process.on('SIGTERM', this.#onSignal)
  }

  /** Aborts when the command stops waiting. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Why it was stopped from outside; undefined while it was not. */
  get stoppedBy(): AgentprotoError | undefined {
    return this.#cause
  }

  /** Does work that cannot be interrupted, such as the start of an agent. @throws the cause of a stop */
  async race<T>(work: () => Promise<T>): Promise<T> {
    const stopped = new Promise<never>((_, reject) => (this.#reject = reject))
    try {
      if (this.#cause !== undefined) throw this.#cause
      return await Promise.race([work(), stopped])
    } finally {
      this.#reject = undefined
    }
  }

  /** From now on, the first stop interrupts the turn. */
  interruptWith(interrupt: () => void): void {
    this.#interrupt = interrupt
    if (this.#cause !== undefined) interrupt()
  }

  /** The turn never began, so that there is no end to wait for. */
  stopWaiting(): void {
    this.#abort.abort()
  }

  release(): void {
    clearTimeout(this.#timer)
    process.off('SIGINT', this.#onSignal)
    process.off('SIGTERM', this.#onSignal)
  }

  #stop(cause: AgentprotoError): void {
    if (this.#cause !== undefined) return this.#abort.abort()
    this.#cause = cause
    this.#interrupt?.()
    this.#reject?.(cause)
  }
}

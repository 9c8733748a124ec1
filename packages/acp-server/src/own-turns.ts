import type { AgentprotoError, SessionEvent, TurnEndReason } from '@agentproto/contracts'

type StreamError = Extract<SessionEvent, { type: 'error' }>

export interface TurnOutcome {
  readonly reason: TurnEndReason
  readonly error: StreamError | undefined
}

interface Waiter {
  readonly resolve: (outcome: TurnOutcome) => void
  readonly reject: (error: AgentprotoError) => void
}

/** The turns that this client has started and waits for; the turns of other clients are not in it. */
export class OwnTurns {
  readonly #waiters = new Map<number, Waiter>()
  #admissions: Promise<unknown> = Promise.resolve()
  /** The error of the turn that runs; an error comes before its turn's end. */
  #error: StreamError | undefined

  /** Numbers of those that have not ended, oldest first. */
  get numbers(): readonly number[] {
    return [...this.#waiters.keys()]
  }

  /** Sends a prompt and registers its turn. `ended` rejects when the end can no longer be observed. */
  async admit(send: () => Promise<number>): Promise<{ readonly ended: Promise<TurnOutcome> }> {
    // Registered as soon as its number is known: its end may have been logged already.
    const admission = send().then((turn) => ({ ended: this.#wait(turn) }))
    this.#admissions = Promise.allSettled([this.#admissions, admission])
    return admission
  }

  /** Settles once all prompts that are being sent have a number. */
  async admitted(): Promise<void> {
    await this.#admissions
  }

  has(turn: number | undefined): boolean {
    return turn !== undefined && this.#waiters.has(turn)
  }

  /** Keeps the error of a turn until its end. */
  failed(turn: number | undefined, error: StreamError): void {
    if (turn !== undefined) this.#error = error
  }

  /** A turn has ended. @returns the error of a turn of another client, which is not reported elsewhere */
  ended(turn: number | undefined, reason: TurnEndReason): string | undefined {
    const error = this.#error
    this.#error = undefined
    return this.#settle(turn ?? 0, { reason, error }) ? undefined : error?.message
  }

  /** A queued prompt was withdrawn and is never sent: its turn is over. */
  withdrawn(turn: number): void {
    this.#settle(turn, { reason: 'cancelled', error: undefined })
  }

  /** Rejects all waiting turns. @returns their numbers */
  abandon(error: AgentprotoError): readonly number[] {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const [, { reject }] of waiters) reject(error)
    return waiters.map(([turn]) => turn)
  }

  /** Returns whether the client waits for the turn. */
  #settle(turn: number, outcome: TurnOutcome): boolean {
    this.#waiters.get(turn)?.resolve(outcome)
    return this.#waiters.delete(turn)
  }

  #wait(turn: number): Promise<TurnOutcome> {
    const ended = new Promise<TurnOutcome>((resolve, reject) => this.#waiters.set(turn, { resolve, reject }))
    ended.catch(() => undefined)
    return ended
  }
}

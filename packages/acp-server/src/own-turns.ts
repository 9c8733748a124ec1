import type { AgentprotoError, SessionEvent, TurnEndReason } from '@agentproto/contracts'
import type { EventNumber } from './client-link.js'

type StreamError = Extract<SessionEvent, { type: 'error' }>
type TurnEnd = Extract<SessionEvent, { type: 'turn-end' }>

export interface TurnOutcome {
  readonly reason: TurnEndReason
  readonly error: StreamError | undefined
  /** The event of its end; absent for a prompt that was never sent. */
  readonly at?: EventNumber
}

interface Waiter {
  /** Settles when the client has got the answer to its prompt. */
  readonly answered: Promise<void>
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

  /**
   * Sends a prompt and registers its turn. `ended` rejects when the end can no longer be observed.
   * @param answered Settles when the client has got the answer to its prompt
   */
  async admit(send: () => Promise<number>, answered: Promise<void>): Promise<{ readonly ended: Promise<TurnOutcome> }> {
    // Registered as soon as its number is known: its end may have been logged already.
    const admission = send().then((turn) => ({ ended: this.#wait(turn, answered) }))
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

  /** A turn has ended. @returns when the client has got its answer; its outcome, if it is a turn of another client */
  ended(end: TurnEnd): Promise<void> | TurnOutcome {
    const outcome = { reason: end.reason, error: this.#error, at: end }
    this.#error = undefined
    return this.#settle(end.turn ?? 0, outcome) ?? outcome
  }

  /** A queued prompt was withdrawn and is never sent: its turn is over. */
  withdrawn(turn: number): void {
    void this.#settle(turn, { reason: 'cancelled', error: undefined })
  }

  /** Rejects all waiting turns. @returns their numbers */
  abandon(error: AgentprotoError): readonly number[] {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const [, { reject }] of waiters) reject(error)
    return waiters.map(([turn]) => turn)
  }

  /** @returns when the client has got its answer; undefined if it does not wait for the turn */
  #settle(turn: number, outcome: TurnOutcome): Promise<void> | undefined {
    const waiter = this.#waiters.get(turn)
    this.#waiters.delete(turn)
    waiter?.resolve(outcome)
    return waiter?.answered
  }

  #wait(turn: number, answered: Promise<void>): Promise<TurnOutcome> {
    const ended = new Promise<TurnOutcome>((resolve, reject) => this.#waiters.set(turn, { answered, resolve, reject }))
    ended.catch(() => undefined)
    return ended
  }
}

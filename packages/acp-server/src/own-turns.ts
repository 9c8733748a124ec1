import type { AgentprotoError, SessionEvent, TurnEndReason } from '@agentproto/contracts'

type StreamError = Extract<SessionEvent, { type: 'error' }>

/** How a turn ended. */
export interface TurnOutcome {
  readonly reason: TurnEndReason
  readonly error: StreamError | undefined
}

export interface OwnTurn {
  /** Rejects when nobody will know any more. */
  readonly ended: Promise<TurnOutcome>
}

interface Waiter {
  readonly resolve: (outcome: TurnOutcome) => void
  readonly reject: (error: AgentprotoError) => void
}

/** The turns that one client has begun and waits for, told from those of everybody else. */
export class OwnTurns {
  readonly #waiters = new Map<number, Waiter>()
  #admissions: Promise<unknown> = Promise.resolve()
  /** The error of the turn that runs; an error comes before its turn's end. */
  #error: StreamError | undefined

  /** Whether a turn of the client has not ended. */
  get waiting(): boolean {
    return this.#waiters.size > 0
  }

  /** Numbers of those that have not ended, oldest first. */
  get numbers(): readonly number[] {
    return [...this.#waiters.keys()]
  }

  /** Sends a prompt, which gives its turn. */
  async admit(send: () => Promise<number>): Promise<OwnTurn> {
    // It is waited for from the very moment that its number is known: its end may have been logged already.
    const admission = send().then((turn) => ({ ended: this.#wait(turn) }))
    this.#admissions = Promise.allSettled([this.#admissions, admission])
    return admission
  }

  /** Settles once no prompt is on its way. */
  async admitted(): Promise<void> {
    await this.#admissions
  }

  has(turn: number | undefined): boolean {
    return turn !== undefined && this.#waiters.has(turn)
  }

  /** Keeps what went wrong in a turn until its end. */
  failed(turn: number | undefined, error: StreamError): void {
    if (turn !== undefined) this.#error = error
  }

  /** A turn has ended. @returns what went wrong, where it was not the client's own turn and it was told nowhere */
  ended(turn: number | undefined, reason: TurnEndReason): string | undefined {
    const error = this.#error
    this.#error = undefined
    const waiter = this.#waiters.get(turn ?? 0)
    this.#waiters.delete(turn ?? 0)
    waiter?.resolve({ reason, error })
    return waiter === undefined ? error?.message : undefined
  }

  /** A prompt that waited is never sent: its turn is over for whoever waits for it. */
  withdrawn(turn: number): void {
    const waiter = this.#waiters.get(turn)
    this.#waiters.delete(turn)
    waiter?.resolve({ reason: 'cancelled', error: undefined })
  }

  /** Nobody will know how they end. @returns their numbers */
  abandon(error: AgentprotoError): readonly number[] {
    const waiters = [...this.#waiters]
    this.#waiters.clear()
    for (const [, { reject }] of waiters) reject(error)
    return waiters.map(([turn]) => turn)
  }

  #wait(turn: number): Promise<TurnOutcome> {
    const ended = new Promise<TurnOutcome>((resolve, reject) => this.#waiters.set(turn, { resolve, reject }))
    ended.catch(() => undefined)
    return ended
  }
}

import { AgentprotoError, type TurnResult } from '@agentproto/contracts'

/** Whoever waits for the end of a turn, by its number. */

interface Waiter {
  resolve(result: TurnResult): void
  reject(error: AgentprotoError): void
}

export class TurnWaiters {
  readonly #waiters = new Map<number, Set<Waiter>>()

  /** @throws `cancelled` when `signal` aborts */
  wait(number: number, signal?: AbortSignal): Promise<TurnResult> {
    return new Promise((resolve, reject) => {
      const waiters = this.#waiters.get(number) ?? new Set()
      this.#waiters.set(number, waiters)
      const cancel = (): void => {
        waiters.delete(waiter)
        reject(new AgentprotoError('cancelled', 'The wait for the turn was cancelled; the turn goes on'))
      }
      const done = (): void => signal?.removeEventListener('abort', cancel)
      const waiter: Waiter = {
        resolve: (result) => {
          done()
          resolve(result)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      }
      if (signal?.aborted ?? false) return cancel()
      signal?.addEventListener('abort', cancel, { once: true })
      waiters.add(waiter)
    })
  }

  settle(result: TurnResult): void {
    for (const waiter of this.#take(result.number)) waiter.resolve(result)
  }

  #take(number: number): ReadonlySet<Waiter> {
    const waiters = this.#waiters.get(number) ?? new Set()
    this.#waiters.delete(number)
    return waiters
  }
}

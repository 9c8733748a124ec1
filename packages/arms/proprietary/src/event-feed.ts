import { setImmediate as immediate } from 'node:timers/promises'
import type { AgentCliClient, AgentCliEvent } from '@agentproto/contracts/agent'
import { readEvent } from './adapter-event.js'

/** Largest batch of events. */
const MAX_BATCH = 256

export interface FeedTarget {
  take(event: AgentCliEvent): void
  /** Emits what was taken; the promise is the host's back-pressure. */
  flush(): Promise<unknown> | undefined
  /** The events ended, or failed. */
  over(why: string): void
}

/** Pulls the events of an adapter, no faster than the host takes them. Events that are ready at once are one batch. */
export class EventFeed {
  readonly #client: AgentCliClient
  readonly #target: FeedTarget
  #running = false
  #stopped = false
  #iterator: AsyncIterator<AgentCliEvent> | undefined
  #drainSoon: NodeJS.Immediate | undefined
  #pressure: Promise<void> | undefined
  #taken = 0

  constructor(client: AgentCliClient, target: FeedTarget) {
    this.#client = client
    this.#target = target
  }

  /** Starts to pull, unless it is pulling already. */
  start(): void {
    if (this.#running || this.#stopped) return
    this.#running = true
    void this.#pull().then(
      () => this.#ended('The adapter ended its events in the middle of the turn'),
      (thrown: unknown) =>
        this.#ended(`The adapter failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`),
    )
  }

  /** Settles when everything was emitted that could be pulled by now. */
  async settled(): Promise<void> {
    for (let taken = -1; taken !== this.#taken && !this.#stopped;) {
      taken = this.#taken
      await this.#pressure
      // What waits is pulled without a pause; the second one is behind the batch.
      await immediate()
      await immediate()
      await this.#pressure
    }
  }

  /** Stops pulling. */
  stop(): void {
    this.#stopped = true
    // A generator that waits for its agent returns only when the agent ends: this does not wait for it.
    void this.#iterator?.return?.()?.then(undefined, () => {})
  }

  async #pull(): Promise<void> {
    this.#iterator = this.#client.events()[Symbol.asyncIterator]()
    let batch = 0
    for (;;) {
      const { done, value } = await this.#iterator.next()
      if (done || this.#stopped) break
      this.#taken++
      this.#target.take(readEvent(value))
      if (++batch >= MAX_BATCH) {
        batch = 0
        this.#drain()
      } else {
        this.#drainSoon ??= setImmediate(() => this.#drain())
      }
      if (this.#pressure) await this.#pressure
    }
    this.#drain()
  }

  #drain(): void {
    clearImmediate(this.#drainSoon)
    this.#drainSoon = undefined
    const taken = this.#target.flush()
    if (!taken) return
    const pressure = taken.then(() => {
      if (this.#pressure === pressure) this.#pressure = undefined
    })
    this.#pressure = pressure
  }

  #ended(why: string): void {
    this.#running = false
    if (!this.#stopped) this.#target.over(why)
  }
}

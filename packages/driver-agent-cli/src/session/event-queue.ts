import type { AgentSignal, StreamEvent } from '@agentproto/contracts'

/** Events that may wait for a slow reader before the agent is held up. */
const HIGH_WATER = 1_000

const STREAM_TYPES: ReadonlySet<string> = new Set<StreamEvent['type']>([
  'text-delta',
  'thought',
  'tool-call',
  'tool-result',
  'agent-prompt',
  'turn-end',
  'error',
])

/** Whether a signal is one of the turn's events, and no notice of the session. */
export const isStreamEvent = (signal: AgentSignal | StreamEvent): signal is StreamEvent => STREAM_TYPES.has(signal.type)

/** The events of one turn, pulled by its reader. */
export class EventQueue implements AsyncIterableIterator<StreamEvent> {
  #events: StreamEvent[] = []
  #next = 0
  #done = false
  #failure: Error | undefined
  #wake: (() => void) | undefined
  #drained: (() => void) | undefined
  readonly #onReturn: () => void

  /** @param onReturn the reader leaves before the end */
  constructor(onReturn: () => void) {
    this.#onReturn = onReturn
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** Takes events; the promise is the reader's back-pressure. */
  push(events: readonly StreamEvent[]): void | Promise<void> {
    if (this.#done) return
    this.#events.push(...events)
    this.#wakeReader()
    if (this.#events.length - this.#next < HIGH_WATER) return
    return new Promise((resolve) => (this.#drained = resolve))
  }

  /** No more events; what waits is still read. */
  end(failure?: Error): void {
    if (this.#done) return
    this.#done = true
    this.#failure = failure
    this.#wakeReader()
  }

  async next(): Promise<IteratorResult<StreamEvent, undefined>> {
    while (this.#next >= this.#events.length && !this.#done)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    const value = this.#events[this.#next++]
    if (value === undefined) {
      const failure = this.#failure
      this.#failure = undefined
      if (failure !== undefined) throw failure
      return { done: true, value: undefined }
    }
    if (this.#next === this.#events.length) this.#clear()
    return { done: false, value }
  }

  async return(): Promise<IteratorResult<StreamEvent, undefined>> {
    const early = !this.#done
    this.end()
    this.#clear()
    if (early) this.#onReturn()
    return { done: true, value: undefined }
  }

  #clear(): void {
    this.#events = []
    this.#next = 0
    this.#drained?.()
    this.#drained = undefined
  }

  #wakeReader(): void {
    this.#wake?.()
    this.#wake = undefined
  }
}

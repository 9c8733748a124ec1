import { setImmediate } from 'node:timers/promises'

/** How long all that shares a pace may hold the event loop together, in milliseconds. */
const SLICE_MS = 5

/** One for much work that runs at the same time: between two slices of it, everything else has its turn. */
export class Pace {
  #end = performance.now() + SLICE_MS
  #turn: Promise<void> | undefined

  /** The same items. */
  async *of<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    for await (const item of items) {
      yield item
      if (performance.now() >= this.#end) await (this.#turn ??= this.#next())
    }
  }

  async #next(): Promise<void> {
    await setImmediate()
    this.#turn = undefined
    this.#end = performance.now() + SLICE_MS
  }
}

import { setImmediate } from 'node:timers/promises'

/** How long one piece of work may hold the event loop, in milliseconds: several pieces can meet in one turn of it. */
const SLICE_MS = 2

/** A piece of long work. Between two, everything else that waits has its turn. */
export class Slice {
  #end = performance.now() + SLICE_MS

  get isOver(): boolean {
    return performance.now() >= this.#end
  }

  async next(): Promise<void> {
    await setImmediate()
    this.#end = performance.now() + SLICE_MS
  }
}

/** Runs for each item, in slices. */
export async function inSlices<T>(items: Iterable<T>, run: (item: T) => void): Promise<void> {
  const slice = new Slice()
  for (const item of items) {
    run(item)
    if (slice.isOver) await slice.next()
  }
}

/** Those for which it holds, in slices. */
export async function filterInSlices<T>(items: Iterable<T>, holds: (item: T) => boolean): Promise<T[]> {
  const found: T[] = []
  await inSlices(items, (item) => {
    if (holds(item)) found.push(item)
  })
  return found
}

/** The same pieces. A stream that has room would otherwise ask for all of them in one turn. */
export async function* piecesInSlices<T>(pieces: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  const slice = new Slice()
  for await (const piece of pieces) {
    yield piece
    if (slice.isOver) await slice.next()
  }
}

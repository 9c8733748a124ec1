import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * The young generation of a process that is a gateway: as small as it starts while little happens, and larger once
 * much does, when a small one costs a quarter of the time (docs/decisions/small-heap.md). V8 knows a factor by which
 * it grows, and no bound that could be set while it runs; so growing is allowed, and forbidden again when it is enough.
 */
export class YoungHeap {
  #active = false
  #mayGrow = false
  #work = 0

  /** From now on; before, and in a process that is more than a gateway, nothing is done. */
  activate(): void {
    this.#active = true
  }

  /** So much has been done: events that were stored, and requests. */
  take(work: number): void {
    if (!this.#active) return
    this.#work += work
    if (this.#work < (this.#mayGrow ? GROWING_WORK : WORK)) return
    this.#work = 0
    const bytes = youngBytes()
    if (bytes >= ENOUGH_BYTES) this.#forbid()
    else if (!this.#mayGrow) this.#allow(bytes)
  }

  #allow(bytes: number): void {
    this.#mayGrow = true
    grow(Math.max(2, Math.round(ENOUGH_BYTES / bytes)))
    // What comes after the flow is to find it forbidden.
    setTimeout(() => this.#forbid(), GROWING_MS).unref()
  }

  #forbid(): void {
    if (!this.#mayGrow) return
    this.#mayGrow = false
    grow(1)
  }
}

/** Looked at after so much of it, and more often while it may grow: V8 is not to grow it twice. */
const WORK = 2_048
const GROWING_WORK = 256
const GROWING_MS = 1_000
/** Two halves of 4 MB: beyond it, floods do not become faster. */
const ENOUGH_BYTES = 8 * 1024 * 1024

const grow = (factor: number): void => setFlagsFromString(`--semi-space-growth-factor=${factor}`)

function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  return young?.space_size ?? ENOUGH_BYTES
}

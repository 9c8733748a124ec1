import type { Clock, Timer } from '@agentproto/contracts'
import { Kvm } from '@nats-io/kv'
import type { Bucket } from '../cluster/bucket.js'

export interface RemovalMarksOptions {
  readonly bucket: Bucket
  readonly clock: Clock
  /** One host of the fleet cleans up; it may be another one each time. */
  readonly isMine: () => boolean
}

/** What is left of a removed session keeps a host that was away from bringing it back. */
export const KEPT_MS = 30 * 24 * 3_600_000
const INTERVAL_MS = 6 * 3_600_000

/** Removes what is left of removed keys when it is old: a bucket keeps a mark of each for ever. */
export class RemovalMarks {
  readonly #options: RemovalMarksOptions
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: RemovalMarksOptions) {
    this.#options = options
    this.#plan()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  /** @returns how many were removed; an error of NATS leaves the rest for the next time */
  async clean(): Promise<number> {
    const { bucket, clock } = this.#options
    let count = 0
    for (const [key, revision] of await this.#olderThan(clock.now() - KEPT_MS)) {
      if (this.#isClosed) break
      await bucket.purge(key, revision)
      count += 1
    }
    return count
  }

  #plan(): void {
    if (this.#isClosed) return
    this.#timer = this.#options.clock.after(INTERVAL_MS, () => {
      const cleaned = this.#options.isMine() ? this.clean() : Promise.resolve(0)
      void cleaned.catch(() => {}).finally(() => this.#plan())
    })
  }

  async #olderThan(time: number): Promise<readonly (readonly [string, number])[]> {
    const { bucket } = this.#options
    const store = await new Kvm(bucket.client).open(bucket.name)
    const { values } = await store.status()
    if (values === 0) return []
    const old: [string, number][] = []
    for await (const { key, revision, created, operation, delta } of await store.watch({ headers_only: true })) {
      if (operation !== 'PUT' && created.getTime() < time) old.push([key, revision])
      if (delta === 0 || this.#isClosed) break
    }
    return old
  }
}

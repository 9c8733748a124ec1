import type { EventBatch, EventRecord, StoredLog } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'
import type { Wakeup } from './wakeup.js'

/** A reader of one session's log that pulls, and waits until something is published. */

export interface FollowerOptions {
  readonly log: Pick<StoredLog, 'lastSeq' | 'read'>
  /** Wakes with each published batch. */
  readonly wakeup: Wakeup<readonly EventRecord[]>
  /** Whether no more events are expected for now. */
  readonly isOver: () => boolean
  readonly onClose: () => void
}

const BATCH_LIMIT = 1_024

export class Follower implements EventReader {
  readonly #options: FollowerOptions
  #cursor: number
  #closed = false

  constructor(options: FollowerOptions, after: number) {
    this.#options = options
    this.#cursor = after
  }

  get behind(): number {
    return Math.max(0, this.#options.log.lastSeq - this.#cursor)
  }

  async next(signal?: AbortSignal): Promise<EventBatch | undefined> {
    while (!this.#closed && !(signal?.aborted ?? false)) {
      const batch = (await this.#read()) ?? (await this.#wait(signal))
      if (batch !== undefined) return batch
      if (this.#isAtEnd()) return undefined
    }
    return undefined
  }

  close(): void {
    this.#closed = true
    this.#options.wakeup.wake()
    this.#options.onClose()
  }

  async #read(): Promise<EventBatch | undefined> {
    const batch = await this.#options.log.read(this.#cursor, BATCH_LIMIT)
    if (batch.gap !== undefined) this.#cursor = batch.gap.first - 1
    this.#cursor = batch.records.at(-1)?.seq ?? this.#cursor
    return batch.records.length > 0 || batch.gap !== undefined ? batch : undefined
  }

  /** The next published batch, handed over as it is; undefined when the log has to be read. */
  async #wait(signal: AbortSignal | undefined): Promise<EventBatch | undefined> {
    // Something may have been published during the read.
    if (this.#cursor < this.#options.log.lastSeq || this.#isAtEnd()) return undefined
    const published = await this.#options.wakeup.wait(signal)
    if (published?.[0]?.seq !== this.#cursor + 1) return undefined
    this.#cursor += published.length
    return { records: published }
  }

  #isAtEnd(): boolean {
    return this.#options.isOver() && this.#cursor >= this.#options.log.lastSeq
  }
}

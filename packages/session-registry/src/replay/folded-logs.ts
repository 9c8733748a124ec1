import type { SharedLog } from '@agentproto/contracts/agent'

export interface FoldedLogsOptions<T> {
  /** Reads a log from its beginning. */
  readonly fold: (log: SharedLog) => Promise<T>
  /** What of so many logs is kept, and of how much size together. */
  readonly most: { readonly logs: number; readonly size: number }
  readonly sizeOf: (folded: T) => number
}

interface Kept<T> {
  readonly epoch: number
  readonly lastSeq: number
  readonly folded: Promise<T>
  /** 0 until it was read. */
  size: number
}

/** What was made of logs that are asked for again and again: each is read from its beginning only after it has changed. */
export class FoldedLogs<T> {
  readonly #options: FoldedLogsOptions<T>
  /** By session, the one that was asked for last at the end. */
  readonly #kept = new Map<string, Kept<T>>()
  #size = 0

  constructor(options: FoldedLogsOptions<T>) {
    this.#options = options
  }

  /** @throws `cluster_unavailable` */
  async of(log: SharedLog): Promise<T> {
    const { epoch, session } = log
    const lastSeq = await log.lastSeq()
    const known = this.#kept.get(session.id)
    // The log of an owner only grows; the next owner may have other events in the place of those that were never published.
    const kept = known?.epoch === epoch && known.lastSeq === lastSeq ? known : this.#read(log, lastSeq)
    this.#keep(session.id, kept)
    try {
      return await kept.folded
    } catch (thrown) {
      this.#drop(session.id, kept)
      throw thrown
    }
  }

  #read(log: SharedLog, lastSeq: number): Kept<T> {
    const folded = this.#options.fold(log)
    const kept: Kept<T> = { epoch: log.epoch, lastSeq, folded, size: 0 }
    void folded.then(
      (value) => this.#weigh(log.session.id, kept, value),
      () => undefined,
    )
    return kept
  }

  /** It may have been replaced or left out while it was read. */
  #weigh(id: string, kept: Kept<T>, folded: T): void {
    if (this.#kept.get(id) !== kept) return
    const size = this.#options.sizeOf(folded)
    // It would leave out all others, and then itself.
    if (size > this.#options.most.size) return this.#drop(id, kept)
    kept.size = size
    this.#size += size
    this.#leaveOut()
  }

  #keep(id: string, kept: Kept<T>): void {
    const known = this.#kept.get(id)
    if (known !== undefined && known !== kept) this.#drop(id, known)
    // Deleted first, so that the one that was asked for last is also the last in order.
    this.#kept.delete(id)
    this.#kept.set(id, kept)
    this.#leaveOut()
  }

  #leaveOut(): void {
    const { logs, size } = this.#options.most
    for (const [id, oldest] of this.#kept) {
      if (this.#kept.size <= logs && this.#size <= size) return
      this.#drop(id, oldest)
    }
  }

  #drop(id: string, kept: Kept<T>): void {
    if (this.#kept.get(id) !== kept) return
    this.#kept.delete(id)
    this.#size -= kept.size
  }
}

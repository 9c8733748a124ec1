import {
  type Clock,
  type EventBatch,
  type StoredLog,
  type EventReader,
  type EventRecord,
  type SessionEvent,
  toAgentprotoError,
} from '@agentproto/contracts'
import { type LogEntry, number } from './event-record.js'
import { Follower } from './follower.js'
import { Wakeup } from './wakeup.js'

/**
 * The spine of one session: entries are numbered, serialised, stored, and only then published to whoever
 * follows. What comes while a write is under way joins the next batch.
 */

export interface SpineOptions {
  readonly sessionId: string
  readonly log: StoredLog
  readonly clock: Clock
  /** Takes known secret values out of a serialised event; the single place where that is done. */
  readonly redact?: (text: string) => string
  /** Called with each stored batch, before any reader sees it. The first `known` of it had taken effect before. */
  readonly onStored: (batch: readonly SessionEvent[], known: number) => void
}

/** A batch up to this many events stays until the next one comes. */
const KEPT_BATCH = 64

export class Spine {
  readonly #options: SpineOptions
  readonly #wakeup = new Wakeup<readonly EventRecord[]>()
  /** The batch that was stored last, when it is small: a reader that keeps up never touches the disk. */
  #newest: readonly EventRecord[] = []
  #queue: EventRecord[] = []
  /** The events of the queue, for those in this process. */
  #events: SessionEvent[] = []
  /** What has taken effect, and is not stored yet. */
  #owed: { readonly entries: readonly LogEntry[]; readonly turn: number | undefined }[] = []
  /** How many events at the head of the queue are such. */
  #known = 0
  #flushing: Promise<void> | undefined
  #nextSeq: number
  #publishedSeq: number
  #stamp = { ms: 0, iso: '' }

  constructor(options: SpineOptions) {
    this.#options = options
    this.#nextSeq = options.log.lastSeq + 1
    this.#publishedSeq = options.log.lastSeq
  }

  /** The last event that is stored. */
  get lastSeq(): number {
    return this.#publishedSeq
  }

  /** The number that the next entry will get. */
  get nextSeq(): number {
    const ahead = this.#flushing === undefined ? this.#owed.reduce((sum, { entries }) => sum + entries.length, 0) : 0
    return this.#nextSeq + ahead
  }

  /**
   * Logs entries in order; resolves when they are stored and published.
   * @throws `storage_failed`; what failed was not published, and its numbers are used again
   */
  append(entries: readonly LogEntry[], turn?: number): Promise<void> {
    if (this.#owed.length > 0 && this.#flushing === undefined) this.#queueOwed()
    this.#enqueue(entries, turn)
    if (this.#queue.length > 0) this.#flushing ??= this.#flush()
    return this.#flushing ?? Promise.resolve()
  }

  /** Takes what could not be stored and has taken effect all the same: it goes before whatever is stored next. */
  owe(entries: readonly LogEntry[], turn?: number): void {
    this.#owed.push({ entries, turn })
  }

  get owes(): boolean {
    return this.#owed.length > 0
  }

  /** One page of what is stored. */
  async read(after: number, limit: number): Promise<EventBatch> {
    if (after > this.#publishedSeq) return { records: [], gap: { after, first: this.#publishedSeq + 1 } }
    if (after === this.#publishedSeq) return { records: [] }
    const from = after + 1 - (this.#newest[0]?.seq ?? Infinity)
    if (from < 0) return this.#options.log.read(after, limit)
    return {
      records: from === 0 && this.#newest.length <= limit ? this.#newest : this.#newest.slice(from, from + limit),
    }
  }

  /** A reader from `after` on. `isOver` tells whether nothing more will come for now. */
  follow(after: number, isOver: () => boolean): EventReader {
    return new Follower({ spine: this, wakeup: this.#wakeup, isOver }, after)
  }

  /** Lets every reader look again: the session's end is no event of its own. */
  wake(): void {
    this.#wakeup.wake()
  }

  #queueOwed(): void {
    for (const { entries, turn } of this.#owed) this.#enqueue(entries, turn)
    this.#known = this.#queue.length
  }

  #enqueue(entries: readonly LogEntry[], turn: number | undefined): void {
    const ts = this.#timestamp()
    const { sessionId, redact } = this.#options
    for (const entry of entries) {
      const { record, event } = number(entry, { seq: this.#nextSeq, ts, sessionId, turn }, redact)
      this.#queue.push(record)
      this.#events.push(event)
      this.#nextSeq += 1
    }
  }

  async #flush(): Promise<void> {
    try {
      while (this.#queue.length > 0) await this.#writeQueue()
    } finally {
      // In the very step in which the queue was found empty: whoever appends in the next one, woken by this write, would
      // else be given a promise that has settled already, and its entries would wait for somebody else's.
      this.#flushing = undefined
    }
  }

  async #writeQueue(): Promise<void> {
    const batch = this.#queue
    const events = this.#events
    const known = this.#known
    const paid = known === 0 ? 0 : this.#owed.length
    this.#queue = []
    this.#events = []
    this.#known = 0
    try {
      await this.#options.log.append(batch)
    } catch (error) {
      this.#takeBack()
      throw toAgentprotoError(error, 'storage_failed')
    }
    this.#publishedSeq = (batch.at(-1) as EventRecord).seq
    // A large batch is handed to those who wait, and the others find it on the disk: kept here, it would
    // outlive young garbage collections, in every session at once.
    this.#newest = batch.length > KEPT_BATCH ? [] : batch
    if (paid > 0) this.#owed = this.#owed.slice(paid)
    this.#options.onStored(events, known)
    this.#wakeup.wake(batch)
  }

  /** After a failed write: what waited behind it fails with it, so that the numbers have no hole. */
  #takeBack(): void {
    this.#queue = []
    this.#events = []
    this.#nextSeq = this.#publishedSeq + 1
  }

  #timestamp(): string {
    const ms = this.#options.clock.now()
    if (ms !== this.#stamp.ms) this.#stamp = { ms, iso: new Date(ms).toISOString() }
    return this.#stamp.iso
  }
}

import type { Clock, EventBatch, EventLog, EventReader, EventRecord, SessionEvent } from '@agentproto/contracts'
import { type LogEntry, number } from './event-record.js'
import { EventWindow } from './event-window.js'
import { Wakeup } from './wakeup.js'

/**
 * The spine of one session: entries are numbered, serialised, stored, and only then published to whoever
 * follows. What comes while a write is under way joins the next batch.
 */

export interface SpineOptions {
  readonly sessionId: string
  readonly log: EventLog
  readonly clock: Clock
  /** Takes known secret values out of a serialised event; the single place where that is done. */
  readonly redact?: (text: string) => string
  /** Called with each stored batch, before any reader sees it. */
  readonly onStored: (batch: readonly SessionEvent[]) => void
}

const BATCH_LIMIT = 1_024

export class Spine {
  readonly #options: SpineOptions
  readonly #window = new EventWindow()
  readonly #wakeup = new Wakeup()
  #queue: EventRecord[] = []
  /** The events of the queue, for those in this process. */
  #events: SessionEvent[] = []
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
    return this.#nextSeq
  }

  /**
   * Logs entries in order; resolves when they are stored and published.
   * @throws `storage_failed`; what failed was not published, and its numbers are used again
   */
  append(entries: readonly LogEntry[], turn?: number): Promise<void> {
    const ts = this.#timestamp()
    const { sessionId, redact } = this.#options
    for (const entry of entries) {
      const { record, event } = number(entry, { seq: this.#nextSeq, ts, sessionId, turn }, redact)
      this.#queue.push(record)
      this.#events.push(event)
      this.#nextSeq += 1
    }
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined
    })
    return this.#flushing
  }

  /** One page of what is stored. */
  async read(after: number, limit: number): Promise<EventBatch> {
    if (after > this.#publishedSeq) return { records: [], gap: { after, first: this.#publishedSeq + 1 } }
    const near = this.#window.after(after, limit)
    return near === undefined ? this.#options.log.read(after, limit) : { records: near }
  }

  /** A reader from `after` on. `isOver` tells whether nothing more will come for now. */
  follow(after: number, isOver: () => boolean): EventReader {
    let cursor = after
    let closed = false
    return {
      next: async (signal) => {
        while (!closed && !(signal?.aborted ?? false)) {
          const batch = await this.read(cursor, BATCH_LIMIT)
          const last = batch.records.at(-1)
          if (batch.gap !== undefined) cursor = batch.gap.first - 1
          if (last !== undefined) cursor = last.seq
          if (last !== undefined || batch.gap !== undefined) return batch
          if (isOver()) return undefined
          // Nothing was awaited between the look and here, so a publication in between cannot be missed.
          await this.#wakeup.wait(signal)
        }
        return undefined
      },
      close: () => {
        closed = true
        this.#wakeup.wake()
      },
    }
  }

  /** Lets every reader look again: the session's end is no event of its own. */
  wake(): void {
    this.#wakeup.wake()
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue
      const events = this.#events
      this.#queue = []
      this.#events = []
      try {
        await this.#options.log.append(batch)
      } catch (error) {
        this.#takeBack()
        throw error
      }
      this.#publishedSeq = (batch.at(-1) as EventRecord).seq
      this.#window.push(batch)
      this.#options.onStored(events)
      this.#wakeup.wake()
    }
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

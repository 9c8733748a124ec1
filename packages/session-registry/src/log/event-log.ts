import { type Clock, type SessionEvent, type Timer, toAgentprotoError } from '@agentproto/contracts'
import type { EventBatch, EventRecord, EventStore, StoredLog } from '@agentproto/contracts/agent'
import type { EventReader } from '@agentproto/contracts/wire'
import { eventWith, type LogEntry, number, type Stamp } from './event-record.js'
import { Follower } from './follower.js'
import { batchesOf, type LogReads } from './log-batches.js'
import { Wakeup } from './wakeup.js'

/**
 * The log of one session: append, read, follow, flush. Entries are numbered, redacted, serialised and stored, and only
 * then published. What is appended while a write is under way joins the next batch. The log of an ended session is opened
 * for a reader and closed again when idle, so that ten thousand old sessions cost no file descriptor.
 */

export interface EventLogOptions {
  readonly sessionId: string
  readonly store: EventStore
  readonly clock: Clock
  /** Last known sequence number of a log that is not open yet. */
  readonly lastSeq: number
  /** Redacts known secret values in a serialised event; the single place where that is done. */
  readonly redact?: ((text: string) => string) | undefined
  /** Whether the session has ended, so that no more events are expected. */
  readonly isOver: () => boolean
  /** The log of an ended session was closed because it has no reader. */
  readonly onIdle: () => void
  readonly observer: {
    /** Events that took effect: they are stored, or held back until the store accepts writes again. Called once per event. */
    effective(events: readonly SessionEvent[]): void
    /** Events that took effect earlier are stored now. */
    flushed(): void
    /** The log is being closed. */
    closed(): void
  }
}

/** Entries of one turn, or of none. */
export interface EntryGroup {
  readonly entries: readonly LogEntry[]
  readonly turn?: number | undefined
}

/** Groups as they will be stored. @param first the envelope of the first one */
export const eventsOf = (groups: readonly EntryGroup[], { seq, ...first }: Omit<Stamp, 'turn'>): SessionEvent[] =>
  groups
    .flatMap(({ entries, turn }) => entries.map((entry) => ({ entry, turn })))
    .map(({ entry, turn }, at) => eventWith(entry, { seq: seq + at, ...first, turn }))

/** A batch up to this size is kept in memory until the next one comes. */
const KEPT_BATCH = 64
const IDLE_CLOSE_MS = 30_000

export class EventLog implements LogReads {
  readonly #options: EventLogOptions
  readonly #wakeup = new Wakeup<readonly EventRecord[]>()
  #opening: Promise<void> | undefined
  #log: StoredLog | undefined
  #lastSeq: number
  #nextSeq: number
  /** The last stored batch, when it is small: a reader that keeps up never touches the disk. */
  #newest: readonly EventRecord[] = []
  #records: EventRecord[] = []
  #events: SessionEvent[] = []
  /** Took effect, but could not be stored yet; written before anything else, with the time at which they took effect. */
  #pending: (EntryGroup & { readonly ts: string })[] = []
  /** How many events at the head of the queue took effect earlier. */
  #held = 0
  #flushing: Promise<void> | undefined
  #readers = 0
  #timer: Timer | undefined
  #stamp = { ms: 0, iso: '' }
  #isSealed = false
  #isGone = false

  constructor(options: EventLogOptions) {
    this.#options = options
    this.#lastSeq = options.lastSeq
    this.#nextSeq = options.lastSeq + 1
  }

  /** The last stored event. */
  get lastSeq(): number {
    return this.#isGone ? 0 : this.#lastSeq
  }

  get isOpen(): boolean {
    return this.#opening !== undefined
  }

  /** Whether events that took effect are not stored yet. */
  get hasPendingWrites(): boolean {
    return this.#pending.length > 0
  }

  /**
   * From now on nothing is stored: the session has another owner, whose log is the truth. What is appended takes effect here, so
   * that its agent can be ended as ever, and no reader gets it.
   */
  seal(): void {
    if (this.#isSealed) return
    this.#isSealed = true
    // These took effect earlier.
    this.#pending = []
  }

  /**
   * Appends entries in order; resolves when they are stored and published.
   * @throws `storage_failed`; nothing was published then, and the numbers are used again
   */
  async append(groups: readonly EntryGroup[]): Promise<void> {
    if (this.#log === undefined && !this.#isSealed) await this.open()
    if (this.#pending.length > 0 && this.#flushing === undefined) this.#queuePending()
    const ts = this.#timestamp()
    for (const group of groups) this.#enqueue(group, ts)
    if (this.#records.length > 0) this.#flushing ??= this.#writeAll()
    await this.#flushing
  }

  /** Appends what must take effect even if it cannot be stored now; then it becomes a pending write. Never rejects. */
  async appendOrHold(groups: readonly EntryGroup[]): Promise<void> {
    try {
      await this.append(groups)
    } catch {
      const events = this.#expected(groups)
      const ts = this.#timestamp()
      if (!this.#isSealed) this.#pending.push(...groups.map((group) => ({ ...group, ts })))
      this.#options.observer.effective(events)
    }
  }

  /** Writes what is pending. @throws `storage_failed` */
  async flush(): Promise<void> {
    if (this.hasPendingWrites) await this.append([])
  }

  /** One page of the stored events. */
  async read(after: number, limit: number): Promise<EventBatch> {
    if (this.#log === undefined) await this.open()
    else this.#closeLater()
    if (this.#isGone) return { records: [] }
    if (after > this.#lastSeq) return { records: [], gap: { after, first: this.#lastSeq + 1 } }
    if (after === this.#lastSeq || this.#log === undefined) return { records: [] }
    const from = after + 1 - (this.#newest[0]?.seq ?? Infinity)
    if (from < 0) return this.#log.read(after, limit)
    const isWhole = from === 0 && this.#newest.length <= limit
    return { records: isWhole ? this.#newest : this.#newest.slice(from, from + limit) }
  }

  batches(after: number): AsyncIterable<EventBatch> {
    return batchesOf(this, after)
  }

  /** A reader of the events after `after`; it ends when the session has ended and everything was read. */
  async follow(after: number): Promise<EventReader> {
    await this.open()
    const release = this.retain()
    return new Follower({ log: this, wakeup: this.#wakeup, isOver: this.#options.isOver, onClose: release }, after)
  }

  /** Keeps the log open until the returned function is called. */
  retain(): () => void {
    this.#readers += 1
    let isRetained = true
    return () => {
      if (!isRetained) return
      isRetained = false
      this.#readers -= 1
      this.#closeLater()
    }
  }

  async open(): Promise<void> {
    if (this.#isGone) return
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw toAgentprotoError(error, 'storage_failed')
    })
    await this.#opening
    this.#closeLater()
  }

  /** The session has ended: waiting readers look again, and an unread log closes. */
  settle(): void {
    this.#wakeup.wake()
    this.#closeLater()
  }

  async close(): Promise<void> {
    this.#timer?.cancel()
    const opening = this.#opening
    this.#opening = undefined
    if (opening === undefined) return
    await opening
    // What cannot be stored even now is repaired by the next host: no record is saved that is ahead of its log.
    await this.flush().catch(() => undefined)
    this.#options.observer.closed()
    const log = this.#log
    this.#log = undefined
    this.#newest = []
    await log?.close()
  }

  /** Its session is being deleted: it is closed for good, and its readers come to their end. One of them would create it again. */
  async remove(): Promise<void> {
    this.seal()
    this.#isGone = true
    this.#wakeup.wake()
    await this.close()
  }

  async #open(): Promise<void> {
    const { log, repairs } = await this.#options.store.open(this.#options.sessionId)
    this.#log = log
    this.#lastSeq = log.lastSeq
    this.#nextSeq = log.lastSeq + 1
    // The first append waits for the open, so this write cannot wait for that append.
    if (repairs.length > 0 && !this.#isSealed)
      await this.appendOrHold([{ entries: repairs.map((detail) => ({ type: 'repair', detail })) }])
  }

  #queuePending(): void {
    for (const group of this.#pending) this.#enqueue(group, group.ts)
    this.#held = this.#records.length
  }

  #enqueue({ entries, turn }: EntryGroup, ts: string): void {
    const { sessionId, redact } = this.#options
    for (const entry of entries) {
      const { record, event } = number(entry, { seq: this.#nextSeq, ts, sessionId, turn }, redact)
      this.#records.push(record)
      this.#events.push(event)
      this.#nextSeq += 1
    }
  }

  async #writeAll(): Promise<void> {
    const { observer } = this.#options
    try {
      while (this.#records.length > 0) {
        const [records, events, held] = [this.#records, this.#events, this.#held]
        const flushed = held === 0 ? 0 : this.#pending.length
        this.#records = []
        this.#events = []
        this.#held = 0
        // Looked at right before the write, with nothing awaited in between.
        if (this.#isSealed) {
          // As after a write: the caller of this loop knows of it before it ends.
          await Promise.resolve()
          observer.effective(events.slice(held))
          continue
        }
        try {
          await (this.#log as StoredLog).append(records)
        } catch (error) {
          this.#discardQueue()
          throw toAgentprotoError(error, 'storage_failed')
        }
        this.#lastSeq = (records.at(-1) as EventRecord).seq
        // A large batch is handed to waiting readers, and others find it on the disk: kept here, it would outlive young
        // garbage collections, in every session at once.
        this.#newest = records.length > KEPT_BATCH ? [] : records
        if (flushed > 0) this.#pending = this.#pending.slice(flushed)
        const fresh = held === 0 ? events : events.slice(held)
        if (fresh.length > 0) observer.effective(fresh)
        if (held > 0) observer.flushed()
        if (this.#readers > 0) this.#wakeup.wake(records)
      }
    } finally {
      // In the very step that found the queue empty: an append in the next step would otherwise get a settled promise.
      this.#flushing = undefined
    }
  }

  /** After a failed write: what waited behind it fails with it, so that the numbers have no hole. */
  #discardQueue(): void {
    this.#records = []
    this.#events = []
    this.#nextSeq = this.#lastSeq + 1
  }

  /** Events as they will be stored, with the numbers that they will have. */
  #expected(groups: readonly EntryGroup[]): SessionEvent[] {
    const held = this.#pending.reduce((sum, { entries }) => sum + entries.length, 0)
    const { sessionId } = this.#options
    return eventsOf(groups, { seq: this.#nextSeq + held, ts: this.#timestamp(), sessionId })
  }

  #closeLater(): void {
    const { clock, isOver } = this.#options
    if (this.#opening === undefined || this.#readers > 0 || !isOver()) return
    this.#timer?.cancel()
    this.#timer = clock.after(IDLE_CLOSE_MS, () => void this.#closeIfIdle())
  }

  async #closeIfIdle(): Promise<void> {
    // The pending writes are stored nowhere else: if they fail again, the log stays open.
    const isFlushed = await this.flush().then(
      () => true,
      () => false,
    )
    if (this.#readers > 0 || !this.#options.isOver()) return
    if (!isFlushed) return this.#closeLater()
    await this.close()
    if (!this.isOpen) this.#options.onIdle()
  }

  #timestamp(): string {
    const ms = this.#options.clock.now()
    if (ms !== this.#stamp.ms) this.#stamp = { ms, iso: new Date(ms).toISOString() }
    return this.#stamp.iso
  }
}

import type { HostEvent } from './host-event.js'
import type { StreamEvent } from './stream-event.js'

/** Every session has one append-only log of events; everything else is a projection of it. */

export interface Envelope {
  /** Starts at 1, without holes. */
  readonly seq: number
  /** ISO-8601 with milliseconds. */
  readonly ts: string
  readonly sessionId: string
  /** Number of the turn the event belongs to. */
  readonly turn?: number
  /** Present when the payload exceeded its bound and its long strings were cut. */
  readonly cut?: { readonly originalChars: number }
}

export type SessionEvent = Envelope & (StreamEvent | HostEvent)
export type SessionEventType = SessionEvent['type']

/**
 * One event as it is stored and sent, serialised once, before it is stored. `json` has no newline and begins with the
 * envelope (`seq`, `ts`, `sessionId`, `turn?`) and then `type`, so that readers need not parse it.
 */
export interface EventRecord {
  readonly seq: number
  readonly type: SessionEventType
  readonly json: string
}

/** Events that are lost: those after `after` and before `first`. */
export interface EventGap {
  readonly after: number
  readonly first: number
}

/** Takes the place of lost events, in streams and exports. */
export interface GapNotice {
  readonly type: 'gap'
  readonly gap: EventGap
}

/** What a reader gets for one read. */
export interface EventBatch {
  readonly records: readonly EventRecord[]
  /** Present when events after the cursor are lost. */
  readonly gap?: EventGap
}

/** The stored log of one session. Every call is asynchronous, so that a store may be remote. */
export interface StoredLog {
  /** The last stored sequence number; 0 for an empty log. Read from the store at open. */
  readonly lastSeq: number
  /**
   * Stores a batch. When it resolves, the events survive a `kill -9` of the host, and with `durability: "disk"` a power
   * cut. Batches are stored in the order of the calls. A record whose `json` is no event keeps the number of a lost event of a
   * session that was moved here: for readers it is a gap.
   * @throws `storage_failed`; then nothing of the batch counts as stored
   */
  append(batch: readonly EventRecord[]): Promise<void>
  /** Up to `limit` events with `seq > after`, oldest first; an empty batch when there is none. */
  read(after: number, limit: number): Promise<EventBatch>
  /** Idempotent. Afterwards an append is rejected with `storage_failed`, and a read returns nothing. */
  close(): Promise<void>
}

/** Opens the stored logs. */
export interface EventStore {
  /** Opens or creates a log. `repairs` has what was repaired, such as a torn last line; nothing is dropped silently. */
  open(sessionId: string): Promise<{ readonly log: StoredLog; readonly repairs: readonly string[] }>
  delete(sessionId: string): Promise<void>
  /**
   * Reads a log from its beginning without opening it for writing and without repairs, so that it is safe beside a writer.
   * Damaged events are left out; readers notice it by the numbers. Optional: without it a log is opened to be read.
   */
  scan?(sessionId: string): AsyncIterable<readonly EventRecord[]>
  /** Reports damage of a log that has no writer: a torn end that `open` would move aside, and unreadable lines. */
  inspect?(sessionId: string): Promise<LogCondition>
}

/** The damage of a log; nothing was changed. */
export interface LogCondition {
  /** What `open` would move aside; absent if the log ends with a whole event. */
  readonly torn?: string
  /** Numbers of lost events. */
  readonly unreadable: readonly number[]
}

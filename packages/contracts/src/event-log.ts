import type { HostEvent } from './host-event.js'
import type { StreamEvent } from './stream-event.js'

/** The one spine: every session has one append-only log, and everything else is a projection of it. */

export interface Envelope {
  /** Starts at 1 and never has a hole. */
  readonly seq: number
  /** ISO-8601 with milliseconds. */
  readonly ts: string
  readonly sessionId: string
  /** Number of the turn the event belongs to. */
  readonly turn?: number
  /** Present when the payload was over its bound and its long strings were cut. */
  readonly cut?: { readonly originalChars: number }
}

export type SessionEvent = Envelope & (StreamEvent | HostEvent)
export type SessionEventType = SessionEvent['type']

/**
 * One event as it is stored and sent: serialised once, on the way in. `json` has no newline in it, and
 * begins with the envelope (`seq`, `ts`, `sessionId`, `turn?`) and then `type`, so that readers need not
 * parse it.
 */
export interface EventRecord {
  readonly seq: number
  readonly type: SessionEventType
  readonly json: string
}

/** Events that cannot be served any more: those after `after` and before `first`. */
export interface EventGap {
  readonly after: number
  readonly first: number
}

/** Stands among events, in exports too, where some cannot be read any more. */
export interface GapNotice {
  readonly type: 'gap'
  readonly gap: EventGap
}

/** What a reader gets for one pull. */
export interface EventBatch {
  readonly records: readonly EventRecord[]
  /** Present when events after the cursor cannot be served any more; the first one that can is `first`. */
  readonly gap?: EventGap
}

/** The log of one session. Every call is asynchronous, so that a log may live elsewhere. */
export interface StoredLog {
  /** The last sequence number that is stored; 0 for an empty log. Recovered from the store at open. */
  readonly lastSeq: number
  /**
   * Stores a batch; when it resolves, the events survive a `kill -9` of the host (and with
   * `durability: "disk"`, a power cut). Batches are stored in the order of the calls.
   * @throws `storage_failed` when the medium refuses; nothing of the batch counts as stored then.
   */
  append(batch: readonly EventRecord[]): Promise<void>
  /** Up to `limit` events with `seq > after`, oldest first; an empty batch when there is none. */
  read(after: number, limit: number): Promise<EventBatch>
  /** Idempotent. After it an append is refused with `storage_failed`, and a read finds nothing. */
  close(): Promise<void>
}

/** Where logs come from. */
export interface EventStore {
  /**
   * Opens the log of a session, making an empty one where there is none. What had to be repaired (a torn
   * last line, moved aside) is told in `repairs`, never silently dropped.
   */
  open(sessionId: string): Promise<{ readonly log: StoredLog; readonly repairs: readonly string[] }>
  delete(sessionId: string): Promise<void>
  /**
   * Reads a log from its beginning without opening it for writing and without repairing anything, so that it may be
   * done beside a writer; what is no whole event is left out, which readers know from the numbers around it. A store that
   * cannot do this leaves it out: then a log is opened to be read.
   */
  scan?(sessionId: string): AsyncIterable<readonly EventRecord[]>
  /** What is wrong with a log that nobody writes to: a torn end that `open` would move aside, and lines that cannot be read. */
  inspect?(sessionId: string): Promise<LogCondition>
}

/** What a look at a log has found; nothing was changed. */
export interface LogCondition {
  /** What `open` would move aside; absent when the log ends with a whole event. */
  readonly torn?: string
  /** Numbers of events that cannot be read any more. */
  readonly unreadable: readonly number[]
}

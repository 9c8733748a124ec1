import type { EventBatch } from '../event-log.js'
import type { Session } from '../session.js'
import type { ExportFormat } from '../wire/archive-requests.js'
import type { TurnQuery } from '../wire/requests.js'
import type { OutputLine, SessionRequest, Turn, TurnDetail, TurnResult } from '../wire/session-responses.js'
import type { EventReader, OutputReader } from '../wire/session-service.js'

/** What the log of a session alone says, as its own host would: for hosts that can read the log of a host that is away. */

/** The log of a session of another host. */
export interface SharedLog {
  /** Its last known record. */
  readonly session: Session
  /** Counts its owners. */
  readonly epoch: number
  /** Number of the last event that is there; 0 for none. @throws `cluster_unavailable` */
  lastSeq(): Promise<number>
  /** The events after a number, oldest first, up to those that are there now. @throws `cluster_unavailable` */
  batches(after: number): AsyncIterable<EventBatch>
  /** Also those that are still to come. */
  follow(after: number): EventReader
}

/** Each answer is that of the host of the session, as far as its log was published. */
export interface SessionReplay {
  /** {@link SessionService.output}; text that waited for its line to end is a line. */
  output(log: SharedLog, lastN?: number): Promise<readonly OutputLine[]>
  /** {@link SessionService.followOutput}. @throws `invalid_request` for a malformed cursor */
  followOutput(log: SharedLog, cursor?: string): Promise<OutputReader>
  /** {@link SessionService.turns} */
  turns(log: SharedLog, query?: TurnQuery): Promise<readonly Turn[]>
  /** A turn that has begun; undefined for one that the log does not have: it may wait at its host. @throws `turn_not_found` */
  turn(log: SharedLog, turn: number): Promise<TurnDetail | undefined>
  /** A turn that has ended; undefined for one that the log does not have, or not to its end. @throws `turn_not_found` */
  result(log: SharedLog, turn: number): Promise<TurnResult | undefined>
  /** {@link SessionService.requests} */
  requests(log: SharedLog): Promise<readonly SessionRequest[]>
  /** {@link SessionArchive.export}; events that were never published are a gap at its end. */
  export(log: SharedLog, format: ExportFormat): AsyncIterable<string>
}

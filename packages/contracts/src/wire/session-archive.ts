import type { SessionBounds } from './session-bounds.js'
import type { ExportFormat, PruneRequest, SearchQuery } from './archive-requests.js'
import type { PruneResult, RepairReport, SearchResult } from './session-responses.js'
import type { Principal } from '../principal.js'
import type { Session } from '../session.js'

/** Stored sessions as documents, never whole in memory. Calls that name a session can throw `session_not_found`. */
export interface SessionArchive {
  /**
   * Searches prompts, answers, thoughts, tools and errors. Reads the logs each time; there is no index.
   * @param within The sessions that the caller may use; absent for all
   */
  search(query: SearchQuery, within?: SessionBounds, signal?: AbortSignal): Promise<SearchResult>
  /** Deletes sessions that ended long ago, never a live one. */
  prune(request: PruneRequest, by: Principal): Promise<PruneResult>
  /** Checks a stored session against its log, and repairs it by appending. @throws `session_live` */
  repair(id: string, options: { readonly dryRun: boolean }, by: Principal): Promise<RepairReport>
  /** The session as a text, in pieces. */
  export(id: string, format: ExportFormat): Promise<AsyncIterable<string>>
  /**
   * Imports what `export` returned as `json` or `jsonl`, in pieces of any size. The session gets a new id if its own is used, has
   * its origin in `imported`, and is never resumable. An invalid import leaves nothing behind.
   * @param ids Of a fleet: whether an id is free on all hosts. Absent: on this one
   * @throws `invalid_request`, `payload_too_large`, `storage_failed`
   */
  import(text: AsyncIterable<string>, by: Principal, ids?: FleetIds): Promise<Session>
}

/** The ids of the sessions of a fleet. */
export interface FleetIds {
  /** Reserves the id of a session, if none of the fleet has it. @returns false also where that cannot be known now. Never rejects. */
  reserve(session: Session): Promise<boolean>
  /** The session is not stored after all. Never rejects. */
  release(id: string): Promise<void>
}

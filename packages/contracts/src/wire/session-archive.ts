import type { SessionBounds } from './access.js'
import type { ExportFormat, PruneRequest, SearchQuery } from './archive-requests.js'
import type { EventGap, SessionEventType } from '../event-log.js'
import type { Principal } from '../principal.js'
import type { Session } from '../session.js'
import type { Turn } from '../turn.js'

/** Sessions as stored documents: search, export, import, repair, prune. */

/** One match of a search. */
export interface SearchHit {
  readonly sessionId: string
  readonly title?: string
  readonly turn?: number
  /** The first event of the message. */
  readonly seq: number
  readonly ts: string
  readonly type: SessionEventType
  /** The text around the match, on one line. */
  readonly excerpt: string
}

export interface SearchResult {
  /** Newest session first; within a session in the order of its log. */
  readonly hits: readonly SearchHit[]
  /** Present if the limit or the time was reached before all sessions were searched. */
  readonly nextCursor?: string
  /** Sessions with events that can no longer be read, and how many; absent for none. */
  readonly unreadable?: readonly UnreadableEvents[]
}

export interface UnreadableEvents {
  readonly sessionId: string
  readonly events: number
}

export interface PruneResult {
  readonly dryRun: boolean
  readonly pruned: readonly Pick<Session, 'id' | 'title' | 'label' | 'endedAt'>[]
}

/** A defect of a stored session. */
export interface RepairFinding {
  readonly kind: 'torn-tail' | 'unreadable-events' | 'dangling-turn' | 'no-end' | 'record-differs'
  readonly detail: string
  /** Whether it was repaired; always false in a dry run, and for events that can no longer be read. */
  readonly mended: boolean
}

export interface RepairReport {
  readonly id: string
  readonly dryRun: boolean
  readonly findings: readonly RepairFinding[]
}

/** One turn of a transcript. */
export interface TurnTranscript extends Turn {
  /** The text of the agent, joined; only its beginning if it is very long. Events that can no longer be read are marked `[gap]`. */
  readonly text: string
  /** Events of the turn that can no longer be read; absent for none. */
  readonly gaps?: readonly EventGap[]
  readonly prompt: string
  readonly tools: readonly { readonly name: string; readonly status: string }[]
}

/** The first line of a JSON Lines export, and the top-level members of a JSON export. */
export interface ExportHead {
  readonly format: 'agentproto.session.v1'
  readonly exportedAt: string
  readonly session: Session
}

/**
 * Stored sessions as documents. No method holds a whole log in memory. Every call that names a session can throw
 * `session_not_found`.
 */
export interface SessionArchive {
  /**
   * Searches prompts, answers, thoughts, tools and errors. Reads the logs each time; there is no index.
   * @param within The sessions that the caller may use; absent for all
   */
  search(query: SearchQuery, within?: SessionBounds, signal?: AbortSignal): Promise<SearchResult>
  /** Deletes sessions that ended long ago, never a live one. */
  prune(request: PruneRequest, by: Principal): Promise<PruneResult>
  /**
   * Checks a stored session against its log and repairs it by appending, never by rewriting.
   * @throws `session_live`
   */
  repair(id: string, options: { readonly dryRun: boolean }, by: Principal): Promise<RepairReport>
  /** The session as a text, in pieces. */
  export(id: string, format: ExportFormat): Promise<AsyncIterable<string>>
  /**
   * Imports what `export` returned as `json` or `jsonl`, in pieces of any size. The session gets a new id if its own is used, has
   * its origin in `imported`, and is never resumable. An invalid import leaves nothing behind.
   * @throws `invalid_request`, `payload_too_large`, `storage_failed`
   */
  import(text: AsyncIterable<string>, by: Principal): Promise<Session>
}

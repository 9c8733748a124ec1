import type { SessionBounds } from './access.js'
import type { ExportFormat, PruneRequest, SearchQuery } from './archive-requests.js'
import type { EventGap, SessionEventType } from '../event-log.js'
import type { Principal } from '../principal.js'
import type { Session } from '../session.js'
import type { Turn } from '../turn.js'

/** What is done with sessions as stored documents: found again, carried elsewhere, mended, thrown away. */

/** One place where a text was found. */
export interface SearchHit {
  readonly sessionId: string
  readonly title?: string
  readonly turn?: number
  /** The event that the message begins with. */
  readonly seq: number
  readonly ts: string
  readonly type: SessionEventType
  /** The text around the place, on one line. */
  readonly excerpt: string
}

export interface SearchResult {
  /** Of the newest session first; of one session in the order of its log. */
  readonly hits: readonly SearchHit[]
  /** Present when the limit or the time was reached before every session was looked at. */
  readonly nextCursor?: string
  /** Sessions that could not be looked at as a whole, and how many of their events cannot be read; absent for none. */
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

/** Something that was wrong with a stored session. */
export interface RepairFinding {
  readonly kind: 'torn-tail' | 'unreadable-events' | 'dangling-turn' | 'no-end' | 'record-differs'
  readonly detail: string
  /** Whether it is mended now; always false in a dry run, and for events that cannot be read any more. */
  readonly mended: boolean
}

export interface RepairReport {
  readonly id: string
  readonly dryRun: boolean
  readonly findings: readonly RepairFinding[]
}

/** What the transcript says of one turn. */
export interface TurnTranscript extends Turn {
  /** The agent's text, joined; of a very long one the beginning. What cannot be read any more is marked `[gap]`. */
  readonly text: string
  /** Events of the turn that cannot be read any more; absent for none. */
  readonly gaps?: readonly EventGap[]
  readonly prompt: string
  readonly tools: readonly { readonly name: string; readonly status: string }[]
}

/** The first line of an export as JSON Lines, and the frame of one as JSON. */
export interface ExportHead {
  readonly format: 'agentproto.session.v1'
  readonly exportedAt: string
  readonly session: Session
}

/**
 * Stored sessions as documents, beside {@link SessionService}. Nothing of it holds a whole log in memory.
 * Every call that names a session can throw `session_not_found`.
 */
export interface SessionArchive {
  /**
   * Looks through the transcripts: prompts, answers, thoughts, tools, errors. Reads the logs each time; there is no index.
   * @param within Sessions that the caller reaches; all when absent
   */
  search(query: SearchQuery, within?: SessionBounds, signal?: AbortSignal): Promise<SearchResult>
  /** Forgets sessions that ended long ago. A live one is never among them. */
  prune(request: PruneRequest, by: Principal): Promise<PruneResult>
  /**
   * Checks a stored session against its log and mends it by appending, never by rewriting.
   * @throws `session_live`
   */
  repair(id: string, options: { readonly dryRun: boolean }, by: Principal): Promise<RepairReport>
  /** The session as a text, in pieces. */
  export(id: string, format: ExportFormat): Promise<AsyncIterable<string>>
  /**
   * Takes in what `export` gave as `json` or `jsonl`, in pieces of any size. It gets another id when its own is taken, says where
   * it is from (`imported`), and is never resumable. Nothing of it stays when it is not valid.
   * @throws `invalid_request`, `payload_too_large`, `storage_failed`
   */
  import(text: AsyncIterable<string>, by: Principal): Promise<Session>
}

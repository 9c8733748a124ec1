import type { Principal } from '../principal.js'
import type { SessionReview } from '../session.js'
import type { ChangesQuery, PatchQuery, ReviewedRequest, RewindFilesRequest } from './change-requests.js'
import type { RewoundFiles, SessionChanges } from './change-responses.js'

/**
 * What sessions changed in their folders. Every call can throw `session_not_found`, `not_supported` where nothing is recorded,
 * `checkpoint_not_found`, `checkpoint_failed` and `invalid_request`.
 */
export interface ChangeService {
  /** The files that differ between two states; from the start of the session to now where the query says nothing. */
  list(id: string, query?: ChangesQuery, signal?: AbortSignal): Promise<SessionChanges>
  /**
   * Their differences as a unified patch, in pieces, cut at 16 MiB with a last line that says so.
   * @throws `path_invalid`
   */
  diff(id: string, query?: PatchQuery, signal?: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** Remembers which state of the files a person has reviewed. @throws `delegation_denied` for an agent */
  markReviewed(id: string, request: ReviewedRequest, by: Principal): Promise<SessionReview>
  /**
   * Sets files back to those of a checkpoint, after a checkpoint of now. No prompt is sent meanwhile.
   * @throws `turn_in_progress`, `folder_in_use`, `path_invalid`, `delegation_denied` for an agent, and what a start throws of
   * the folder
   */
  rewind(id: string, request: RewindFilesRequest, by: Principal): Promise<RewoundFiles>
}

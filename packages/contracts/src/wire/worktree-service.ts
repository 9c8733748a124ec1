import type { MergeResult } from '../agent/worktrees.js'
import type { Principal } from '../principal.js'
import type { DiscardWorktreeRequest, MergeWorktreeRequest } from './worktree-requests.js'

/**
 * What is done at last with the worktree of a session. Every call can throw `session_not_found`, `not_supported` for a session
 * without one, `delegation_denied` for an agent, `repository_invalid`, `git_unavailable`, `git_failed`, and what a start throws
 * of its folder.
 */
export interface WorktreeService {
  /**
   * Merges the branch into its base, all or nothing. Uncommitted work is committed to the branch first; ignored files are not.
   * @throws `turn_in_progress`, `folder_in_use`, `merge_conflict` with `data.files`, `checkout_dirty` with `data.files`, `branch_invalid`
   */
  merge(id: string, request: MergeWorktreeRequest, by: Principal): Promise<MergeResult>
  /**
   * Deletes the folder, and the branch if it was created for it. Without `force` only when no work would be lost.
   * @throws `worktree_unsaved`, `session_live` while a session runs in it
   */
  discard(id: string, request: DiscardWorktreeRequest, by: Principal): Promise<void>
}

import type { ErrorCode } from '../errors.js'
import { ok, operate, type Operations } from './operation.js'
import { acknowledged } from './session-responses.js'
import * as ask from './worktree-requests.js'
import * as is from './worktree-responses.js'

const WORKTREE = [
  'session_not_found',
  'host_unreachable',
  'not_supported',
  'delegation_denied',
  'workspace_not_found',
  'cwd_invalid',
  'cwd_not_allowed',
  'repository_invalid',
  'git_unavailable',
  'git_failed',
] as const satisfies readonly ErrorCode[]

/** The worktree of a session, at its end. */
export const worktreeOperations = {
  'POST /sessions/:id/worktree/merge': operate('mergeWorktree', {
    summary: 'Merges the branch of the session’s worktree into its base, all or nothing',
    calls: 'worktrees.merge',
    action: 'merge',
    body: ask.mergeRequestSchema,
    answers: ok(is.worktreeMerged, 'It is merged'),
    errors: [
      ...WORKTREE,
      'turn_in_progress',
      'folder_in_use',
      'merge_conflict',
      'checkout_dirty',
      'branch_invalid',
      'worktree_unsaved',
    ],
  }),
  'POST /sessions/:id/worktree/discard': operate('discardWorktree', {
    summary: 'Deletes the session’s worktree, and its branch if it was created for it',
    calls: 'worktrees.discard',
    action: 'discard',
    body: ask.discardRequestSchema,
    answers: ok(acknowledged, 'It is deleted'),
    errors: [...WORKTREE, 'session_live', 'worktree_unsaved'],
  }),
} as const satisfies Operations

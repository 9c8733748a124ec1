import type { ErrorCode } from '../errors.js'
import * as ask from './change-requests.js'
import * as is from './change-responses.js'
import { ok, operate, type Operations, read, tagged } from './operation.js'
import * as tools from './tools.js'

const CHANGES = [
  'session_not_found',
  'host_unreachable',
  'not_supported',
  'checkpoint_not_found',
  'checkpoint_failed',
  'git_unavailable',
  'git_failed',
  'cancelled',
] as const satisfies readonly ErrorCode[]

/** What a session changed in its folder. */
export const changeOperations = {
  'GET /sessions/:id/changes': read('listChanges', {
    summary: 'Lists the files that differ between two states of the session’s folder',
    calls: 'changes.list',
    query: ask.changesQuerySchema,
    answers: tagged(is.sessionChanges, 'The changed files'),
    errors: CHANGES,
    tool: tools.getChanges,
  }),
  'GET /sessions/:id/changes/diff': read('getPatch', {
    summary: 'Returns the differences as a unified patch',
    calls: 'changes.diff',
    query: ask.patchQuerySchema,
    answers: { 200: { description: 'The patch, cut at 16 MiB with a last line that says so', text: ['text/x-diff'] } },
    errors: [...CHANGES, 'path_invalid'],
  }),
  'POST /sessions/:id/changes/reviewed': operate('markReviewed', {
    summary: 'Remembers that a person has reviewed the files',
    calls: 'changes.markReviewed',
    action: 'review',
    body: ask.reviewedRequestSchema,
    answers: ok(is.review, 'What is reviewed now'),
    errors: [...CHANGES, 'delegation_denied', 'storage_failed'],
  }),
  'POST /sessions/:id/rewind': operate('rewindFiles', {
    summary: 'Sets files back to those of a turn; the files of now are recorded before',
    calls: 'changes.rewind',
    action: 'rewind',
    body: ask.rewindRequestSchema,
    answers: ok(is.rewoundFiles, 'What was changed and what was kept'),
    errors: [
      ...CHANGES,
      'path_invalid',
      'turn_in_progress',
      'session_starting',
      'folder_in_use',
      'delegation_denied',
      'workspace_not_found',
      'cwd_invalid',
      'cwd_not_allowed',
      'not_resumable',
    ],
  }),
} as const satisfies Operations

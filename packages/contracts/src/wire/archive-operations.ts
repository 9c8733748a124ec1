import * as ask from './archive-requests.js'
import { admin, created, ok, operate, type Operations, read } from './operation.js'
import * as is from './session-responses.js'
import { usageQuerySchema, usageReport } from './usage.js'

/** Stored sessions as documents, and what they used. */
export const archiveOperations = {
  'GET /search': read('search', {
    summary: 'Searches the transcripts for a text',
    calls: 'archive.search',
    query: ask.searchQuerySchema,
    answers: ok(is.searchResult, 'The hits, newest session first'),
    errors: ['cancelled'],
  }),
  'GET /usage': read('getUsage', {
    summary: 'Reports what sessions used: tokens, cost, turns and busy time',
    calls: 'usage.report',
    query: usageQuerySchema,
    answers: ok(usageReport, 'The rows, and their total'),
    errors: ['storage_failed'],
  }),
  'POST /sessions/import': admin('importSession', {
    summary: 'Imports an exported session; the body may also be JSON Lines (application/x-ndjson)',
    calls: 'archive.import',
    action: 'import',
    answers: created(is.session, 'The session, which is never resumable', '/sessions/:id'),
    errors: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'storage_failed'],
  }),
  'POST /sessions/prune': admin('pruneSessions', {
    summary: 'Deletes sessions that ended long ago, with their logs',
    calls: 'archive.prune',
    action: 'prune',
    body: ask.pruneRequestSchema,
    answers: ok(is.pruned, 'The deleted sessions'),
    errors: ['storage_failed'],
  }),
  'GET /sessions/:id/export': read('exportSession', {
    summary: 'Returns the session with its whole log, or as Markdown',
    calls: 'archive.export',
    query: ask.exportQuerySchema,
    answers: ok(is.exported, 'In the requested `format`', { text: ['application/x-ndjson', 'text/markdown'] }),
    errors: ['session_not_found', 'host_unreachable', 'storage_failed'],
  }),
  'GET /sessions/:id/transcript': read('getTranscript', {
    summary: 'Returns the conversation, turn by turn',
    calls: 'archive.export',
    query: ask.transcriptQuerySchema,
    answers: ok(is.transcript, 'The turns; as Markdown if `format` or Accept asks for it', { text: ['text/markdown'] }),
    errors: ['session_not_found', 'host_unreachable', 'storage_failed'],
  }),
  'POST /sessions/:id/repair': operate('repairSession', {
    summary: 'Checks an ended session against its log and repairs it by appending',
    calls: 'archive.repair',
    action: 'repair',
    query: ask.repairQuerySchema,
    answers: ok(is.repairReport, 'The findings'),
    errors: ['session_not_found', 'host_unreachable', 'session_live', 'storage_failed'],
  }),
} as const satisfies Operations

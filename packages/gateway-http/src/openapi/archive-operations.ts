import {
  exportQuerySchema,
  pruneRequestSchema,
  repairQuerySchema,
  searchQuerySchema,
  transcriptQuerySchema,
} from '@agentproto/contracts'
import * as is from './answers.js'
import { answer, type Operations } from './operation.js'

/** Stored sessions as documents. */
export const archiveOperations: Operations = {
  'GET /search': {
    id: 'search',
    summary: 'Finds a text in what was said',
    query: searchQuerySchema,
    answers: { 200: answer('The places, of the newest session first', is.searchResult) },
    problems: ['cancelled'],
  },
  'POST /sessions/import': {
    id: 'importSession',
    summary: 'Takes in an export; the body may be JSON Lines, too (application/x-ndjson)',
    answers: { 201: answer('The session, which is never resumable', is.session, { headers: ['Location'] }) },
    problems: ['invalid_request', 'payload_too_large', 'unsupported_media_type', 'storage_failed'],
  },
  'POST /sessions/prune': {
    id: 'pruneSessions',
    summary: 'Forgets sessions that ended long ago, with their logs',
    body: pruneRequestSchema,
    answers: { 200: answer('Which', is.pruned) },
    problems: ['storage_failed'],
  },
  'GET /sessions/:id/export': {
    id: 'exportSession',
    summary: 'The session with its whole log, or as Markdown',
    query: exportQuerySchema,
    answers: { 200: answer('As `format` says', is.exported, { text: ['application/x-ndjson', 'text/markdown'] }) },
    problems: ['session_not_found', 'storage_failed'],
  },
  'GET /sessions/:id/transcript': {
    id: 'getTranscript',
    summary: 'What was said, turn by turn',
    query: transcriptQuerySchema,
    answers: { 200: answer('The turns; or Markdown, by `format` or Accept', is.transcript, { text: 'text/markdown' }) },
    problems: ['session_not_found', 'storage_failed'],
  },
  'POST /sessions/:id/repair': {
    id: 'repairSession',
    summary: 'Checks an ended session against its log and mends it by appending',
    query: repairQuerySchema,
    answers: { 200: answer('What was wrong', is.repairReport) },
    problems: ['session_not_found', 'session_live', 'storage_failed'],
  },
}

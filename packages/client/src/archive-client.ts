import type { ExportFormat, PruneRequest, SearchQuery } from '@agentproto/contracts/wire'
import { callOf } from './operation-call.js'
import type { Transport } from './transport.js'

/** The stored sessions of a gateway as documents. Every call that names a session can throw `session_not_found`. */
export type ArchiveClient = ReturnType<typeof archiveClient>

export function archiveClient(transport: Transport) {
  const { call } = transport
  return {
    /** Messages that contain a text, newest session first; continue with `after: nextCursor`. */
    search: (query: SearchQuery) => call('GET /search', { query }),
    /** Deletes sessions that ended longer than `olderThanMs` ago; with `dryRun` only lists them. */
    prune: (body: PruneRequest) => call('POST /sessions/prune', { body }),
    /** Checks a stored session against its log and repairs it by appending. @throws `session_live` */
    repair: (id: string, { dryRun }: { readonly dryRun?: boolean } = {}) =>
      call('POST /sessions/:id/repair', { params: { id }, query: { dryRun } }),
    /** The session as text, in pieces as they come; a log of any size passes through. */
    export: (id: string, format: Exclude<ExportFormat, 'transcript'> = 'jsonl'): AsyncIterable<string> =>
      transport.text(callOf('GET /sessions/:id/export', { params: { id }, query: { format } })),
    /** The conversation, turn by turn. */
    transcript: (id: string) => call('GET /sessions/:id/transcript', { params: { id }, query: { format: 'json' } }),
    /** Imports what `export` gave as `jsonl` or `json`. @throws `invalid_request`, `payload_too_large` */
    import: (text: string) => call('POST /sessions/import', { text }),
  }
}

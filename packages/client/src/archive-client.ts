import type {
  ExportFormat,
  PruneRequest,
  PruneResult,
  RepairReport,
  SearchQuery,
  SearchResult,
  Session,
  TurnTranscript,
} from '@agentproto/contracts'
import type { Transport } from './transport.js'

/** The stored sessions of a gateway as documents. Every call that names a session can throw `session_not_found`. */
export interface ArchiveClient {
  /** Messages that have a text, of the newest session first; go on with `after: nextCursor`. */
  search(query: Partial<SearchQuery> & Pick<SearchQuery, 'q'>): Promise<SearchResult>
  /** Forgets sessions that ended longer than `olderThanMs` ago; with `dryRun` only tells which. */
  prune(request: PruneRequest): Promise<PruneResult>
  /** Checks a stored session against its log and mends it by appending. @throws `session_live` */
  repair(id: string, options?: { readonly dryRun?: boolean }): Promise<RepairReport>
  /** The session as a text, in pieces as they come; a log of any size passes through. */
  export(id: string, format?: Exclude<ExportFormat, 'transcript'>): AsyncIterable<string>
  /** What was said, turn by turn. */
  transcript(id: string): Promise<{ readonly session: Session; readonly turns: readonly TurnTranscript[] }>
  /** Takes in what `export` gave as `jsonl` or `json`. @throws `invalid_request`, `payload_too_large` */
  import(text: string): Promise<Session>
}

export function archiveClient(transport: Transport): ArchiveClient {
  const at = (id: string, rest: string): string => `/sessions/${encodeURIComponent(id)}${rest}`
  return {
    search: (query) => transport.json({ path: '/search', query: { ...query } }),
    prune: (body) => transport.json({ method: 'POST', path: '/sessions/prune', body }),
    repair: (id, { dryRun } = {}) => transport.json({ method: 'POST', path: at(id, '/repair'), query: { dryRun } }),
    export: (id, format = 'jsonl') => transport.text({ path: at(id, '/export'), query: { format } }),
    transcript: (id) => transport.json({ path: at(id, '/transcript'), query: { format: 'json' } }),
    import: (text) => transport.json({ method: 'POST', path: '/sessions/import', text }),
  }
}

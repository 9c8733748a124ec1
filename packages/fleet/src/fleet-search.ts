import { defined } from '@agentproto/contracts'
import { ARCHIVE_BOUNDS, type SearchHit, type SearchQuery, type SearchResult } from '@agentproto/contracts/wire'
import { type Answers, askAll } from './asked-of-all.js'
import { fromCursor, type SearchPlaces, toCursor } from './search-cursor.js'

/** Hits of a page that names no limit. */
const DEFAULT_HITS = 20

export interface FleetSearch {
  readonly host: string
  /** All other hosts. */
  readonly others: readonly string[]
  readonly search: (host: string, query: SearchQuery) => Promise<SearchResult>
  /** When a session was started, if it is known. */
  readonly startedAt: (sessionId: string) => string
}

/**
 * Searches on all hosts. Each host has a part of the page, and goes on where it stopped: no hit is lost or repeated. A page has its
 * newest sessions first; a later page may have newer ones of a host that has many.
 */
export async function searchAll(
  { host, others, search, startedAt }: FleetSearch,
  { after, limit = DEFAULT_HITS, ...query }: SearchQuery,
): Promise<SearchResult> {
  const places = after === undefined ? undefined : fromCursor(after)
  const wanted = [host, ...others].filter((each) => places === undefined || Object.hasOwn(places, each))
  const missing = Object.keys(places ?? {}).filter((each) => !wanted.includes(each))
  const asked = wanted.slice(0, limit)
  const share = Math.floor(limit / Math.max(1, asked.length))
  const ask = (each: string): Promise<SearchResult> =>
    search(each, { ...query, limit: share, ...defined({ after: places?.[each] ?? undefined }) })
  const [first, ...rest] = asked
  const answered = first === undefined ? NO_ANSWERS : await askAll({ host: first, answer: () => ask(first) }, rest, ask)
  const next = Object.fromEntries([
    ...answered.answers.flatMap(({ host: each, answer }) =>
      answer.nextCursor === undefined ? [] : [[each, answer.nextCursor] as const],
    ),
    ...wanted.slice(limit).map((each) => [each, places?.[each] ?? null] as const),
  ])
  return resultOf(answered, { next, missing, startedAt })
}

interface Rest {
  readonly next: SearchPlaces
  /** Hosts that the page before has named and that are not known any more. */
  readonly missing: readonly string[]
  readonly startedAt: FleetSearch['startedAt']
}

function resultOf(
  { answers, unanswered = [] }: Answers<SearchResult>,
  { next, missing, startedAt }: Rest,
): SearchResult {
  const hits = answers.flatMap(({ answer }) => answer.hits)
  const unreadable = answers.flatMap(({ answer }) => answer.unreadable ?? []).slice(0, ARCHIVE_BOUNDS.searchUnreadable)
  const silent = [...unanswered, ...missing.map((host) => ({ host, problem: 'host_not_found' }))]
  return {
    hits: newestFirst(hits, startedAt),
    ...(Object.keys(next).length > 0 && { nextCursor: toCursor(next) }),
    ...(unreadable.length > 0 && { unreadable }),
    ...(silent.length > 0 && { unanswered: silent }),
  }
}

/** The hits of one session stay in their order: the sort is stable. */
function newestFirst(hits: readonly SearchHit[], startedAt: FleetSearch['startedAt']): readonly SearchHit[] {
  return hits
    .map((hit) => ({ hit, at: startedAt(hit.sessionId) }))
    .toSorted((a, b) => b.at.localeCompare(a.at) || b.hit.sessionId.localeCompare(a.hit.sessionId))
    .map(({ hit }) => hit)
}

const NO_ANSWERS: Answers<SearchResult> = { answers: [] }

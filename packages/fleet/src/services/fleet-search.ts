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
 * Searches on all hosts. The pages of hosts stay whole, so that each goes on where its page ended, and no hit is lost or repeated: of
 * the page of a host that has no room in this one nothing is used, and it is asked for again. A page has its newest sessions first.
 */
export async function searchAll(
  { host, others, search, startedAt }: FleetSearch,
  { after, limit = DEFAULT_HITS, ...query }: SearchQuery,
): Promise<SearchResult> {
  const places: SearchPlaces = after === undefined ? placesOf([host, ...others]) : fromCursor(after)
  const known = [host, ...others].filter((each) => Object.hasOwn(places, each))
  const missing = Object.keys(places).filter((each) => !known.includes(each))
  const [first, ...rest] = known
  const ask = (each: string): Promise<SearchResult> =>
    search(each, { ...query, limit, ...defined({ after: places[each] ?? undefined }) })
  const asked = first === undefined ? NO_ANSWERS : await askAll({ host: first, answer: () => ask(first) }, rest, ask)
  const { used, left } = fitting(asked, { limit, startedAt })
  const next: [string, string | null][] = [
    ...used.flatMap(({ host: each, answer: { nextCursor } }): [string, string][] =>
      nextCursor === undefined ? [] : [[each, nextCursor]],
    ),
    ...left.map((each): [string, string | null] => [each, places[each] ?? null]),
  ]
  const silent = [...(asked.unanswered ?? []), ...missing.map((each) => ({ host: each, problem: 'host_not_found' }))]
  const unreadable = used.flatMap(({ answer }) => answer.unreadable ?? []).slice(0, ARCHIVE_BOUNDS.searchUnreadable)
  return {
    hits: newestFirst(
      used.flatMap(({ answer }) => answer.hits),
      startedAt,
    ),
    ...(next.length > 0 && { nextCursor: toCursor(Object.fromEntries(next)) }),
    ...(unreadable.length > 0 && { unreadable }),
    ...(silent.length > 0 && { unanswered: silent }),
  }
}

const placesOf = (hosts: readonly string[]): SearchPlaces => Object.fromEntries(hosts.map((host) => [host, null]))

interface Fitting {
  readonly used: Answers<SearchResult>['answers']
  /** Hosts whose page has no room. */
  readonly left: readonly string[]
}

/** As many pages as have room together, those with the newest session first; one has always room. */
function fitting(
  { answers }: Answers<SearchResult>,
  { limit, startedAt }: Pick<FleetSearch, 'startedAt'> & { readonly limit: number },
): Fitting {
  const newest = ({ hits: [hit] }: SearchResult): string => (hit === undefined ? '' : startedAt(hit.sessionId))
  const used: Answers<SearchResult>['answers'][number][] = []
  const left: string[] = []
  let room = limit
  for (const each of answers.toSorted((a, b) => newest(b.answer).localeCompare(newest(a.answer)))) {
    const { length } = each.answer.hits
    if (length <= room) {
      used.push(each)
      room -= length
    } else left.push(each.host)
  }
  return { used, left }
}

/** The hits of one session stay in their order: the sort is stable. */
function newestFirst(hits: readonly SearchHit[], startedAt: FleetSearch['startedAt']): readonly SearchHit[] {
  return hits
    .map((hit) => ({ hit, at: startedAt(hit.sessionId) }))
    .toSorted((a, b) => b.at.localeCompare(a.at) || b.hit.sessionId.localeCompare(a.hit.sessionId))
    .map(({ hit }) => hit)
}

const NO_ANSWERS: Answers<SearchResult> = { answers: [] }

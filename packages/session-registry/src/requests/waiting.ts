import { AgentprotoError, isLive, type Session, type SessionRequest } from '@agentproto/contracts'
import { BOUNDS, type RequestPage, type SessionBounds, type WaitingQuery } from '@agentproto/contracts/wire'
import { countThatFits, MAX_PAGE_CHARS } from './request-size.js'
import { descriptorOf, type SessionCache, type CachedSession } from '../session-cache.js'

/** One page of the requests that wait for a person, in the sessions within bounds, oldest first. @throws `invalid_request` */
export function waitingIn(
  sessions: SessionCache,
  { limit = BOUNDS.requestsMax, after }: WaitingQuery,
  within: SessionBounds | undefined,
): RequestPage {
  const isInScope = sessions.scope(within)
  const first = after === undefined ? undefined : placeOf(after)
  const waiting = sessions.all
    .flatMap((cached) => {
      const requests = waitingOf(cached)
      return requests.length > 0 && isInScope(descriptorOf(cached)) ? requests : []
    })
    .map((request) => ({ request, place: cursorOf(request) }))
    .filter(({ place }) => first === undefined || place > first)
    .sort((a, b) => (a.place < b.place ? -1 : 1))
  const upToLimit = waiting.slice(0, limit)
  const page = upToLimit.slice(
    0,
    countThatFits(
      upToLimit.map(({ request }) => request.request),
      MAX_PAGE_CHARS,
    ),
  )
  const last = page.at(-1)
  const requests = page.map(({ request }) => request)
  return waiting.length > page.length && last !== undefined ? { requests, nextCursor: last.place } : { requests }
}

/** The place of a request in the list, which it keeps: ISO dates of one length are in the order of their text. */
const cursorOf = ({ createdAt, sessionId, requestId }: SessionRequest): string =>
  `${createdAt} ${sessionId} ${requestId}`

const CURSOR = /^\d{4}-\d\d-\d\dT[\d:.]+Z \S+ \S+$/

function placeOf(after: string): string {
  if (CURSOR.test(after)) return after
  throw new AgentprotoError('invalid_request', 'The field "after" is not valid', {
    expected: 'the nextCursor of the page before',
    given: after,
    data: { field: 'after' },
  })
}

/**
 * What a person can still decide of a session: what is pending, and what was interrupted, as long as it may be asked
 * again: its session can be resumed, and has not gone on.
 */
function waitingOf(cached: CachedSession): readonly SessionRequest[] {
  const { requests } = cached.loaded?.state ?? cached.evicted ?? { requests: [] }
  // Most sessions have no request that is open.
  if (requests.every(({ state }) => state === 'resolved')) return []
  const session = descriptorOf(cached)
  return requests.filter((request) => waits(request, session))
}

function waits({ state, turn }: SessionRequest, session: Session): boolean {
  if (state === 'pending') return isLive(session)
  return state === 'interrupted' && session.resumable && !isLive(session) && turn === session.turnCount
}

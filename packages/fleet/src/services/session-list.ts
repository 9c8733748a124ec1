import { AgentprotoError, defined, type Session } from '@agentproto/contracts'
import { BOUNDS, hasEndedBefore, matchesFilter, type SessionFilter, type SessionPage } from '@agentproto/contracts/wire'

/** `<milliseconds>.<id>` of the last session of a page; a host alone may have counted twins, as `+<n>`. */
const CURSOR = /^(\d{1,15})(?:\+\d{1,6})?\.(\S{1,128})$/

interface Place {
  readonly ms: number
  readonly id: string
}

/**
 * One page of sessions of all hosts, newest first; those that started in the same millisecond by their id, so that the order is the
 * same on every host and a cursor holds when its session is gone.
 * @param sessions Those within the bounds of the caller
 * @throws `invalid_request`
 */
export function listPage(sessions: Iterable<Session>, filter: SessionFilter): SessionPage {
  const after = filter.after === undefined ? undefined : placeOf(filter.after)
  const limit = Math.min(filter.limit ?? BOUNDS.listMax, BOUNDS.listMax)
  const { matching, hidden } = matchingOf(sessions, filter)
  const rest = after === undefined ? matching : matching.filter((each) => compare(each, after) > 0)
  rest.sort(compare)
  const page = rest.slice(0, limit)
  const last = page.at(-1)
  return {
    sessions: page.map(({ session }) => session),
    ...defined({
      nextCursor: rest.length > limit && last !== undefined ? `${last.ms}.${last.id}` : undefined,
      hidden: filter.endedSince === undefined || after !== undefined ? undefined : hidden,
    }),
  }
}

interface Placed extends Place {
  readonly session: Session
}

function matchingOf(sessions: Iterable<Session>, filter: SessionFilter): { matching: Placed[]; hidden: number } {
  const matching: Placed[] = []
  let hidden = 0
  for (const session of sessions) {
    if (!matchesFilter(session, filter)) continue
    if (hasEndedBefore(session, filter.endedSince)) hidden += 1
    else matching.push({ ms: Date.parse(session.startedAt), id: session.id, session })
  }
  return { matching, hidden }
}

function compare(a: Place, b: Place): number {
  if (a.ms !== b.ms) return b.ms - a.ms
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0
}

function placeOf(after: string): Place {
  const [, ms, id] = CURSOR.exec(after) ?? []
  if (ms !== undefined && id !== undefined) return { ms: Number(ms), id }
  throw new AgentprotoError('invalid_request', 'The field "after" is not valid', {
    expected: 'the nextCursor of the page before',
    given: after,
    data: { field: 'after' },
  })
}

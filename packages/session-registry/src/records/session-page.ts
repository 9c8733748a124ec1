import { AgentprotoError, defined, type Session } from '@agentproto/contracts'
import { BOUNDS, hasEndedBefore, matchesFilter, type SessionFilter, type SessionPage } from '@agentproto/contracts/wire'
import { descriptorOf, idOf, type CachedSession } from '../session-cache.js'

/** One page of a list: the newest first, from the cursor on. `sessions` is in the order of their start. */
export function pageOf(sessions: readonly CachedSession[], filter: SessionFilter, view: PageView): SessionPage {
  return { ...listOf(sessions, filter, view), ...defined({ hidden: hiddenOf(sessions, filter, view) }) }
}

function listOf(
  sessions: readonly CachedSession[],
  filter: SessionFilter,
  { isInScope, asOfNow }: PageView,
): SessionPage {
  const limit = Math.min(filter.limit ?? BOUNDS.listMax, BOUNDS.listMax)
  const page: Session[] = []
  let last = -1
  for (let at = startOf(sessions, filter.after); at >= 0; at -= 1) {
    const session = asOfNow(descriptorOf(sessions[at] as CachedSession))
    if (!matchesFilter(session, filter) || hasEndedBefore(session, filter.endedSince) || !isInScope(session)) continue
    // One session more than the limit shows that there is a next page.
    if (page.length === limit) return { sessions: page, nextCursor: cursorOf(sessions, last) }
    page.push(session)
    last = at
  }
  return { sessions: page }
}

/** How many sessions only `endedSince` leaves out. A later page does not count again. */
function hiddenOf(
  sessions: readonly CachedSession[],
  filter: SessionFilter,
  { isInScope, asOfNow }: PageView,
): number | undefined {
  const { endedSince, after } = filter
  if (endedSince === undefined || after !== undefined) return undefined
  return sessions.filter((cached) => {
    const session = asOfNow(descriptorOf(cached))
    return hasEndedBefore(session, endedSince) && matchesFilter(session, filter) && isInScope(session)
  }).length
}

export interface PageView {
  readonly isInScope: (session: Session) => boolean
  /** What of a session follows from the time. */
  readonly asOfNow: (session: Session) => Session
}

/**
 * Names the last session of a page, its start, and how many that started in the same millisecond are older: the place is
 * found also when the session has been forgotten.
 */
export function cursorOf(sessions: readonly CachedSession[], at: number): string {
  const { startedAt, id } = descriptorOf(sessions[at] as CachedSession)
  let older = 0
  while (at > older && descriptorOf(sessions[at - older - 1] as CachedSession).startedAt === startedAt) older += 1
  const ms = Date.parse(startedAt)
  return older === 0 ? `${ms}.${id}` : `${ms}+${older}.${id}`
}

const CURSOR = /^(\d{1,15})(?:\+(\d{1,6}))?\.(\S{1,64})$/

/** The index before the cursor's. @throws `invalid_request` */
export function startOf(sessions: readonly CachedSession[], after: string | undefined): number {
  if (after === undefined) return sessions.length - 1
  const [, startedAt, older = '0', id] = CURSOR.exec(after) ?? []
  if (startedAt === undefined) {
    throw new AgentprotoError('invalid_request', 'The field "after" is not valid', {
      expected: 'the nextCursor of the page before',
      given: after,
      data: { field: 'after' },
    })
  }
  const found = sessions.findIndex((shelved) => idOf(shelved) === id)
  if (found >= 0) return found - 1
  // If an older one is gone too, a session is listed twice: better than never.
  const ms = Number(startedAt)
  const twins = sessions.flatMap((shelved, at) => (startOfOne(shelved) === ms ? [at] : []))
  return twins[Math.min(Number(older), twins.length) - 1] ?? sessions.findLastIndex((one) => startOfOne(one) < ms)
}

const startOfOne = (shelved: CachedSession): number => Date.parse(descriptorOf(shelved).startedAt)

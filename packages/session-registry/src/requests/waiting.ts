import { isLive, type Session, type SessionRequest } from '@agentproto/contracts'
import type { SessionBounds } from '@agentproto/contracts/wire'
import { descriptorOf, type SessionCache, type CachedSession } from '../session-cache.js'

/** Requests that wait for a person, in the sessions within bounds. */
export function waitingIn(sessions: SessionCache, within: SessionBounds | undefined): readonly SessionRequest[] {
  const isInScope = sessions.scope(within)
  return sessions.all.flatMap((cached) => {
    const requests = waitingOf(cached)
    return requests.length > 0 && isInScope(descriptorOf(cached)) ? requests : []
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

import { isLive, type Session, type SessionBounds, type SessionRequest } from '@agentproto/contracts'
import { descriptorOf, type SessionShelf, type Shelved } from '../session-shelf.js'

/** What waits for a person in the sessions within bounds. */
export function waitingIn(sessions: SessionShelf, within: SessionBounds | undefined): readonly SessionRequest[] {
  const reaches = sessions.reached(within)
  return sessions.all.flatMap((shelved) => {
    const requests = waitingOf(shelved)
    return requests.length > 0 && reaches(descriptorOf(shelved)) ? requests : []
  })
}

/**
 * What a person can still decide of a session: what is pending, and what was interrupted, as long as it may be asked
 * again: its session can be resumed, and has gone no further.
 */
function waitingOf({ awake, resting }: Shelved): readonly SessionRequest[] {
  const requests = awake === undefined ? resting.requests : awake.desk.all
  // Most sessions have been asked for nothing, or were told long ago.
  if (requests.every(({ state }) => state === 'resolved')) return []
  const session = awake === undefined ? resting.session : awake.snapshot()
  return requests.filter((request) => waits(request, session))
}

function waits({ state, turn }: SessionRequest, session: Session): boolean {
  if (state === 'pending') return isLive(session)
  return state === 'interrupted' && session.resumable && !isLive(session) && turn === session.turnCount
}

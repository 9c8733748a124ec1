import type { Session } from '@agentproto/contracts'
import { isWithinBounds, type SessionBounds } from '@agentproto/contracts/wire'
import type { Fleet } from './fleet.js'

/** A session of another host from the copy; undefined outside of the bounds. */
export function copied(fleet: Fleet, id: string, within: SessionBounds | undefined): Session | undefined {
  const record = fleet.view.session(id)
  if (record === undefined) return undefined
  const isInBounds = isWithinBounds(record.session, within, (other) => fleet.view.session(other)?.session)
  return isInBounds ? shown(fleet, record.session, record.owner) : undefined
}

/** What a call answers of a session, as this host shows it. */
export async function shownBy(fleet: Fleet, id: string, call: () => Promise<Session>): Promise<Session> {
  const host = fleet.owners.otherOf(id)
  const session = await call()
  return host === undefined ? session : shown(fleet, session, host)
}

/** As this host shows it: with the name of its host, and `unreachable` when that is not heard from. */
export function shown({ view }: Fleet, session: Session, host: string): Session {
  if (view.isReachable(host)) return session.hostId === host ? session : { ...session, hostId: host }
  return { ...session, hostId: host, state: 'unreachable', attachable: false, wakeable: false }
}

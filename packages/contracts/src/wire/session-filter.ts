import { isLive, type Session, type SessionStateName } from '../session.js'
import type { SessionFilter } from './requests.js'

/** Members that must be equal, each with the session's. */
const EXACT = [
  ['status', 'status'],
  ['state', 'state'],
  ['adapter', 'adapterSlug'],
  ['workspace', 'workspaceSlug'],
  ['label', 'label'],
  ['cwd', 'cwd'],
  ['host', 'hostId'],
] as const

/** Whether a list with this filter has the session, unless {@link hasEndedBefore} leaves it out. Says nothing of its page. */
export function matchesFilter(session: Session, filter: SessionFilter): boolean {
  const { q, onlyAlive, since } = filter
  for (const [asked, member] of EXACT)
    if (filter[asked] !== undefined && session[member] !== filter[asked]) return false
  if (onlyAlive === true && !isLive(session)) return false
  if (since !== undefined && Date.parse(session.lastActiveAt) < Date.parse(since)) return false
  return (
    q === undefined ||
    [session.id, session.title, session.label].some((text) => text?.toLowerCase().includes(q.toLowerCase()) ?? false)
  )
}

const OVER: ReadonlySet<SessionStateName> = new Set(['ended', 'failed'])

/** Whether a session ended before a time (ISO-8601). One that is asleep has not ended. */
export const hasEndedBefore = (session: Session, time: string | undefined): boolean =>
  time !== undefined && OVER.has(session.state) && Date.parse(endOf(session)) < Date.parse(time)

const endOf = ({ killedAt, endedAt, lastActiveAt }: Session): string => killedAt ?? endedAt ?? lastActiveAt

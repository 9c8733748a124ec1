import {
  AgentprotoError,
  BOUNDS,
  isLive,
  type Session,
  type SessionFilter,
  type SessionPage,
} from '@agentproto/contracts'
import { descriptorOf, idOf, type Shelved } from './session-shelf.js'

const DEFAULT_LIMIT = 100

/** One page of a list: the newest first, from the cursor on. `sessions` is in the order of their start. */
export function pageOf(
  sessions: readonly Shelved[],
  filter: SessionFilter,
  reaches: (session: Session) => boolean = () => true,
): SessionPage {
  const limit = Math.min(filter.limit ?? DEFAULT_LIMIT, BOUNDS.listMax)
  const page: Session[] = []
  for (let at = startOf(sessions, filter.after); at >= 0; at -= 1) {
    const session = descriptorOf(sessions[at] as Shelved)
    if (!matches(session, filter) || !reaches(session)) continue
    // One more than the page shows that there is a next one.
    const last = page.at(-1)
    if (page.length === limit && last !== undefined) return { sessions: page, nextCursor: cursorOf(last) }
    page.push(session)
  }
  return { sessions: page }
}

/** Names the last session of a page, and its start: the place is found also when the session has been forgotten. */
export const cursorOf = ({ startedAt, id }: Session): string => `${Date.parse(startedAt)}.${id}`

const CURSOR = /^(\d{1,15})\.(\S{1,64})$/

/** The index before the cursor's. @throws `invalid_request` */
export function startOf(sessions: readonly Shelved[], after: string | undefined): number {
  if (after === undefined) return sessions.length - 1
  const [, startedAt, id] = CURSOR.exec(after) ?? []
  if (startedAt === undefined) {
    throw new AgentprotoError('invalid_request', 'The field "after" is not valid', {
      expected: 'the nextCursor of the page before',
      given: after,
      data: { field: 'after' },
    })
  }
  const found = sessions.findIndex((shelved) => idOf(shelved) === id)
  if (found >= 0) return found - 1
  return sessions.findLastIndex((shelved) => Date.parse(descriptorOf(shelved).startedAt) < Number(startedAt))
}

/** Members that are compared to the letter, each with the session's. */
const EXACT = [
  ['status', 'status'],
  ['adapter', 'adapterSlug'],
  ['workspace', 'workspaceSlug'],
  ['label', 'label'],
  ['cwd', 'cwd'],
] as const

function matches(session: Session, filter: SessionFilter): boolean {
  const { q, onlyAlive } = filter
  for (const [asked, member] of EXACT)
    if (filter[asked] !== undefined && session[member] !== filter[asked]) return false
  if (onlyAlive === true && !isLive(session)) return false
  return (
    q === undefined ||
    [session.id, session.title, session.label].some((text) => text?.toLowerCase().includes(q.toLowerCase()) ?? false)
  )
}

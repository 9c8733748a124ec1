import {
  AgentprotoError,
  BOUNDS,
  isLive,
  type Session,
  type SessionFilter,
  type SessionPage,
} from '@agentproto/contracts'
import type { ManagedSession } from './managed-session.js'

const DEFAULT_LIMIT = 100

/** One page of a list: the newest first, from the cursor on. `sessions` is in the order of their start. */
export function pageOf(sessions: readonly ManagedSession[], filter: SessionFilter): SessionPage {
  const limit = Math.min(filter.limit ?? DEFAULT_LIMIT, BOUNDS.listMax)
  const page: Session[] = []
  let at = startOf(sessions, filter.after)
  for (; at >= 0 && page.length < limit; at -= 1) {
    const session = sessions[at]?.snapshot()
    if (session !== undefined && matches(session, filter)) page.push(session)
  }
  const last = page.at(-1)
  const more =
    at >= 0 && last !== undefined && sessions.slice(0, at + 1).some((session) => matches(session.snapshot(), filter))
  return { sessions: page, ...(more ? { nextCursor: cursorOf(last) } : {}) }
}

/** Names the last session of a page, and its start: the place is found also when the session has been forgotten. */
const cursorOf = ({ startedAt, id }: Session): string => `${Date.parse(startedAt)}.${id}`

const CURSOR = /^(\d{1,15})\.(\S{1,64})$/

/** The index before the cursor's. @throws `invalid_request` */
function startOf(sessions: readonly ManagedSession[], after: string | undefined): number {
  if (after === undefined) return sessions.length - 1
  const [, startedAt, id] = CURSOR.exec(after) ?? []
  if (startedAt === undefined) {
    throw new AgentprotoError('invalid_request', 'The field "after" is not valid', {
      expected: 'the nextCursor of the page before',
      given: after,
      data: { field: 'after' },
    })
  }
  const found = sessions.findIndex((session) => session.id === id)
  if (found >= 0) return found - 1
  return sessions.findLastIndex((session) => Date.parse(session.snapshot().startedAt) < Number(startedAt))
}

function matches(session: Session, filter: SessionFilter): boolean {
  const { status, adapter, workspace, label, q, onlyAlive } = filter
  if (status !== undefined && session.status !== status) return false
  if (adapter !== undefined && session.adapterSlug !== adapter) return false
  if (workspace !== undefined && session.workspaceSlug !== workspace) return false
  if (label !== undefined && session.label !== label) return false
  if (onlyAlive === true && !isLive(session)) return false
  return (
    q === undefined ||
    [session.id, session.title, session.label].some((text) => text?.toLowerCase().includes(q.toLowerCase()) ?? false)
  )
}

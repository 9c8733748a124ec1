import type { Session } from '@agentproto/contracts'
import type { SessionBounds } from '@agentproto/contracts/wire'

type Line = Pick<Session, 'id' | 'workspaceSlug' | 'parentSessionId'>

/** Longer lines of descent are not followed; none is allowed to grow that long. */
const MAX_DEPTH = 64

/** Whether a session lies within bounds; `find` knows the others of its line. */
export function isWithin(
  session: Line,
  bounds: SessionBounds | undefined,
  find: (id: string) => Line | undefined,
): boolean {
  if (bounds === undefined) return true
  const { workspaces, under, itself = false } = bounds
  if (workspaces !== undefined && !workspaces.includes(session.workspaceSlug)) return false
  if (under === undefined) return true
  return session.id === under ? itself : descends(session, under, find)
}

function descends(session: Line, from: string, find: (id: string) => Line | undefined): boolean {
  let each: Line | undefined = session
  for (let depth = 0; depth < MAX_DEPTH && each?.parentSessionId !== undefined; depth++) {
    if (each.parentSessionId === from) return true
    each = find(each.parentSessionId)
  }
  return false
}

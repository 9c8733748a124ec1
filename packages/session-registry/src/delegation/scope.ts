import type { Session } from '@agentproto/contracts'
import type { SessionBounds } from '@agentproto/contracts/wire'
import { isInside } from '../permissions/real-path.js'
import { NO_WORKSPACE } from '../permissions/workspace-rules.js'
import { namedFolderOf } from '../worktrees/named-folder.js'

type Line = Pick<Session, 'id' | 'workspaceSlug' | 'cwd' | 'worktree' | 'parentSessionId'>

/** Longer lines of descent are not followed; none is allowed to grow that long. */
const MAX_DEPTH = 64

/** Whether a session lies within bounds; `find` knows the others of its line. */
export function isWithin(
  session: Line,
  bounds: SessionBounds | undefined,
  find: (id: string) => Line | undefined,
): boolean {
  if (bounds === undefined) return true
  const { under, itself = false } = bounds
  if (!isInWorkspaces(session, bounds)) return false
  if (under === undefined) return true
  return session.id === under ? itself : descends(session, under, find)
}

/** A session keeps its slug, which may be another folder's by now; and that of no workspace is in none. */
function isInWorkspaces({ workspaceSlug: slug, ...place }: Line, { workspaces, folders }: SessionBounds): boolean {
  if (workspaces === undefined) return true
  if (slug === NO_WORKSPACE || !workspaces.includes(slug)) return false
  if (folders === undefined) return true
  const folder = Object.hasOwn(folders, slug) ? folders[slug] : undefined
  return folder !== undefined && isInside(namedFolderOf(place), [folder])
}

function descends(session: Line, from: string, find: (id: string) => Line | undefined): boolean {
  let each: Line | undefined = session
  for (let depth = 0; depth < MAX_DEPTH && each?.parentSessionId !== undefined; depth++) {
    if (each.parentSessionId === from) return true
    each = find(each.parentSessionId)
  }
  return false
}

import type { Session } from '@agentproto/contracts'
import type { SessionBounds } from '@agentproto/contracts/wire'

type Line = Pick<Session, 'id' | 'workspaceSlug' | 'cwd' | 'worktree' | 'parentSessionId'>

/** Longer lines of descent are not followed. */
const MAX_DEPTH = 64
/** The slug of a session in no workspace. */
const NO_WORKSPACE = 'default'

/**
 * Whether the record of a session of any host lies within bounds, as its own host decides it; what cannot be decided is outside.
 * @param find Knows the others of its line
 */
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

function isInWorkspaces(session: Line, { workspaces, folders }: SessionBounds): boolean {
  if (workspaces === undefined) return true
  const { workspaceSlug: slug } = session
  if (slug === NO_WORKSPACE || !workspaces.includes(slug)) return false
  if (folders === undefined) return true
  const folder = Object.hasOwn(folders, slug) ? folders[slug] : undefined
  return folder !== undefined && isInside(folderOf(session), folder)
}

/** A worktree counts as the folder that its start named. */
const folderOf = ({ cwd, worktree }: Line): string => worktree?.folder ?? cwd

/** The other host may run Windows: its separator is the one that the folder has. */
function isInside(path: string, folder: string): boolean {
  const separator = /^[A-Za-z]:\\|^\\\\/.test(folder) ? '\\' : '/'
  return path === folder || path.startsWith(folder.endsWith(separator) ? folder : folder + separator)
}

function descends(session: Line, from: string, find: (id: string) => Line | undefined): boolean {
  let each: Line | undefined = session
  for (let depth = 0; depth < MAX_DEPTH && each?.parentSessionId !== undefined; depth++) {
    if (each.parentSessionId === from) return true
    each = find(each.parentSessionId)
  }
  return false
}

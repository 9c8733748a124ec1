import type { Session } from '../session.js'
import { NO_WORKSPACE } from '../workspace.js'

/** The sessions that a principal may use; all conditions must match. */
export interface SessionBounds {
  /** In one of these workspaces. */
  readonly workspaces?: readonly string[]
  /** With `workspaces`: in the folder that each of them had when the principal was bound to it. */
  readonly folders?: Readonly<Record<string, string>>
  /** A descendant of this session. */
  readonly under?: string
  /** With `under`: also that session. */
  readonly itself?: boolean
}

/** What of a session its bounds are decided by. */
type Bounded = Pick<Session, 'id' | 'workspaceSlug' | 'cwd' | 'worktree' | 'parentSessionId'>

/** Longer lines of descent are not followed; none is allowed to grow that long. */
const MAX_DEPTH = 64

/**
 * Whether a session of any host lies within bounds. What cannot be decided is outside.
 * @param find Knows the sessions that its parents may be
 */
export function isWithinBounds(
  session: Bounded,
  bounds: SessionBounds | undefined,
  find: (id: string) => Bounded | undefined,
): boolean {
  if (bounds === undefined) return true
  const { under, itself = false } = bounds
  if (!isInWorkspaces(session, bounds)) return false
  if (under === undefined) return true
  return session.id === under ? itself : descends(session, under, find)
}

/** A session keeps its slug, which may be another folder's by now; and that of no workspace is in none. */
function isInWorkspaces(session: Bounded, { workspaces, folders }: SessionBounds): boolean {
  if (workspaces === undefined) return true
  const { workspaceSlug: slug } = session
  if (slug === NO_WORKSPACE || !workspaces.includes(slug)) return false
  if (folders === undefined) return true
  const folder = Object.hasOwn(folders, slug) ? folders[slug] : undefined
  return folder !== undefined && isInFolder(namedFolderOf(session), folder)
}

/** A worktree lies in the home of its host, and counts as the folder that its start named. */
const namedFolderOf = ({ cwd, worktree }: Bounded): string => worktree?.folder ?? cwd

/**
 * Whether a path is a folder or lies below it, by their texts: both are absolute, with links followed. The other host may run Windows:
 * the separator is the one that the folder has. A path with a step up is not inside.
 */
export function isInFolder(path: string, folder: string): boolean {
  const separator = ABSOLUTE.exec(folder)?.[1]
  if (separator === undefined || !ABSOLUTE.test(path)) return false
  const ended = (each: string): string => (each.endsWith(separator) ? each : each + separator)
  const start = ended(folder)
  return ended(path).startsWith(start) && !path.slice(start.length).split(separator).includes('..')
}

/** `/a`, `C:\a`, `\\host\share`; with its separator. */
const ABSOLUTE = /^(?:[A-Za-z]:)?([\\/])/

function descends(session: Bounded, from: string, find: (id: string) => Bounded | undefined): boolean {
  let each: Bounded | undefined = session
  for (let depth = 0; depth < MAX_DEPTH && each?.parentSessionId !== undefined; depth++) {
    if (each.parentSessionId === from) return true
    each = find(each.parentSessionId)
  }
  return false
}

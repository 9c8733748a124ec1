import { realpath } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import {
  AgentprotoError,
  defined,
  isAgentprotoError,
  NO_WORKSPACE,
  type Principal,
  type ResolvedCwd,
  type TokenPrincipal,
  type WorkspaceResolver,
} from '@agentproto/contracts'
import type { StoredSession, StoredWorktree } from '@agentproto/contracts/agent'
import { coversWorkspace, type SpawnAgentRequest } from '@agentproto/contracts/wire'
import { isInside } from '../permissions/real-path.js'

/** Where a caller may run an agent (AIP-46 §Workspaces; docs/security.md): decided once for each start, whatever it starts. */

type Asked = Pick<SpawnAgentRequest, 'cwd' | 'workspaceSlug' | 'additionalDirectories'>

export interface Roots {
  readonly place: ResolvedCwd
  /** Real paths, that of the working directory first. */
  readonly folders: readonly [string, ...string[]]
}

/** The caller of a start, and the folders of a session. */
export interface Asker {
  readonly by: Principal
  readonly workspaces: WorkspaceResolver
  readonly within: (sessionId: string) => readonly string[]
}

/**
 * The folders of a spawn. The owner may use any; a named token only those of workspaces, and only of those that it is bound
 * to; an agent only those within its session's, symbolic links resolved (F97).
 * @throws `workspace_not_found`, `cwd_invalid`, `cwd_not_allowed`, `cwd_outside_parent`
 */
export async function rootsOf(asked: Asked, { by, workspaces, within }: Asker): Promise<Roots> {
  const bounds = by.type === 'session' ? within(by.sessionId) : []
  const resolved = async (given: Place): Promise<Resolved> => {
    if (by.type === 'token') return resolveFor(by, workspaces, given)
    return by.type === 'owner' ? withReal(workspaces.resolve(given)) : resolveInside(bounds, workspaces, given)
  }
  const { cwd = asked.workspaceSlug === undefined ? bounds[0] : undefined, workspaceSlug } = asked
  const { real, ...place } = await resolved(defined({ cwd, workspaceSlug }))
  const others: string[] = []
  for (const folder of asked.additionalDirectories ?? []) others.push((await resolved({ cwd: folder })).real)
  return { place, folders: [real, ...others] }
}

type Placed = Pick<StoredSession, 'session' | 'spawn'>

/**
 * Where a session, or a fork of it, starts again: in its first folders, if they still are and its caller of now may use them.
 * @throws `not_resumable` for what ran elsewhere; as {@link rootsOf}
 */
export async function sameRootsOf(stored: Placed, asker: Asker): Promise<Roots> {
  const roots = await sameNamedFoldersOf(stored, asker)
  const { worktree } = stored.spawn
  if (worktree === undefined) return roots
  const [cwd, ...others] = foldersOf(stored)
  if ((await realpath(cwd).catch(() => undefined)) !== cwd) throw worktreeGone(worktree)
  return { place: { ...roots.place, cwd }, folders: [cwd, ...others] }
}

/** The same for the folder that the start named: a worktree lies elsewhere, and shows all of its repository. @throws as above */
export async function sameNamedFoldersOf(stored: Placed, asker: Asker): Promise<Roots> {
  if (stored.session.imported !== undefined)
    throw new AgentprotoError('not_resumable', 'An imported session never starts', {
      hint: 'Start a new session',
      data: { final: true },
    })
  const named = namedFoldersOf(stored)
  const { worktree } = stored.spawn
  if (worktree !== undefined) await rootsOf({ cwd: worktree.repository }, asker)
  const [cwd, ...additionalDirectories] = named
  const roots = await rootsOf({ cwd, additionalDirectories }, asker)
  if (roots.folders.join('\0') === named.join('\0')) return roots
  throw new AgentprotoError('cwd_invalid', 'A folder of the session now leads elsewhere', {
    expected: named.join(', '),
    given: roots.folders.join(', '),
    hint: 'Restore the folder, or start a new session',
  })
}

/** The real paths of a session's folders; records of older versions have only the paths, which must be real then. */
export const foldersOf = ({ session, spawn }: Placed): Roots['folders'] =>
  spawn.roots ?? [session.cwd, ...(spawn.additionalDirectories ?? [])]

/** The same, with the folder that the start named in the place of its worktree. */
export function namedFoldersOf(stored: Placed): Roots['folders'] {
  const [cwd, ...others] = foldersOf(stored)
  return [stored.spawn.worktree?.folder ?? cwd, ...others]
}

const worktreeGone = ({ path, branch, repository }: StoredWorktree): AgentprotoError =>
  new AgentprotoError('cwd_invalid', 'The worktree of the session is gone', {
    expected: path,
    hint: `Start a new session; if the branch ${branch} is still in ${repository}, it can have a new worktree`,
  })

interface Place {
  readonly cwd?: string
  readonly workspaceSlug?: string
}

/** It is resolved once: what was checked is what is used. */
interface Resolved extends ResolvedCwd {
  readonly real: string
}

async function withReal(resolving: Promise<ResolvedCwd>): Promise<Resolved> {
  const place = await resolving
  return { ...place, real: await realpath(place.cwd).catch(() => place.cwd) }
}

async function resolveFor(by: TokenPrincipal, workspaces: WorkspaceResolver, place: Place): Promise<Resolved> {
  const asked = { ...only(by, place), ...place }
  const named = asked.workspaceSlug
  if (named !== undefined && !coversSlug(by, named)) throw noWorkspace(named)
  const resolved = await withReal(workspaces.resolve(asked)).catch((thrown: unknown) => {
    // The caller must not learn whether a folder outside exists.
    if (place.cwd !== undefined && isAgentprotoError(thrown) && thrown.code === 'cwd_invalid') throw outside(by, place)
    throw thrown
  })
  // The path counts too: an agent of an outer workspace may have put a link in the place of an inner one.
  const [inner] = await workspaces.enclosing(resolved.real)
  const isCovered = inner !== undefined && coversWorkspace(by, inner) && coversSlug(by, resolved.workspaceSlug)
  if (isCovered && isInside(resolved.real, [inner.path])) return resolved
  // The slug is another folder's than when the token was created: to it, there is no such workspace.
  if (place.cwd === undefined && named !== undefined && inner?.slug === named && !isCovered) throw noWorkspace(named)
  throw outside(by, place)
}

/** A token that is bound to one workspace means that one. */
function only({ workspaces }: TokenPrincipal, { cwd, workspaceSlug }: Place): Place {
  const [slug, second] = workspaces ?? []
  if (cwd !== undefined || workspaceSlug !== undefined || slug === undefined || second !== undefined) return {}
  return { workspaceSlug: slug }
}

/** No token covers the slug of folders outside of workspaces. */
const coversSlug = ({ workspaces }: TokenPrincipal, slug: string): boolean =>
  slug !== NO_WORKSPACE && (workspaces === undefined || workspaces.includes(slug))

async function resolveInside(roots: readonly string[], workspaces: WorkspaceResolver, place: Place): Promise<Resolved> {
  const resolved = await withReal(workspaces.resolve(place)).catch((thrown: unknown) => {
    // The caller must not learn whether a folder outside exists.
    if (isAgentprotoError(thrown) && place.cwd !== undefined && isAmong(place.cwd, roots)) throw thrown
    throw outsideParent(place, roots)
  })
  if (isAmong(resolved.real, roots)) return resolved
  throw outsideParent(place, roots)
}

const isAmong = (path: string, roots: readonly string[]): boolean =>
  isAbsolute(path) && !path.includes('\0') && isInside(resolve(path), roots)

/** The same error as for an unknown slug: what a caller may not see does not exist for it. */
const noWorkspace = (given: string): AgentprotoError =>
  new AgentprotoError('workspace_not_found', 'There is no such workspace', {
    given,
    hint: 'List those that you see with GET /workspaces',
  })

const outside = ({ workspaces }: TokenPrincipal, { cwd }: Place): AgentprotoError =>
  new AgentprotoError('cwd_not_allowed', 'The token does not allow agents to run in this folder', {
    expected:
      workspaces === undefined ? 'a folder of a workspace' : `a folder of the workspace ${workspaces.join(', ')}`,
    given: cwd ?? 'no folder and no workspace',
    hint: 'Name a workspace with workspaceSlug',
  })

const outsideParent = ({ cwd, workspaceSlug }: Place, roots: readonly string[]): AgentprotoError =>
  new AgentprotoError('cwd_outside_parent', 'A child runs inside the folders of its parent', {
    expected: `a folder within ${roots.join(', ')}`,
    given: cwd ?? workspaceSlug,
  })

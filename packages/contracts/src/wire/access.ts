import { AgentprotoError } from '../errors.js'
import type { Principal, Scope, TokenPrincipal } from '../principal.js'
import type { Host, Workspace, WorkspacesFile } from './host-responses.js'
import type { SessionBounds } from './session-bounds.js'

// Who may call what. The scopes are in the table of operations; what has no scope is only for the owner.

/** Whether a principal has a scope. Without a scope only the owner passes. */
export function mayUse(by: Principal, needed: Scope | undefined): boolean {
  if (by.type === 'owner') return true
  if (needed === undefined) return false
  if (by.type === 'session') return needed === 'read' || (needed === 'operate' && by.delegates)
  return HOLDS[by.scope].includes(needed)
}

/** What each scope includes. */
const HOLDS: Readonly<Record<Scope, readonly Scope[]>> = {
  read: ['read'],
  operate: ['read', 'operate'],
  admin: ['read', 'operate', 'admin'],
}

/** Checks that a principal has a scope. @throws `forbidden`, `delegation_denied` for a session */
export function assertMayUse(by: Principal, needed: Scope | undefined): void {
  if (mayUse(by, needed)) return
  if (by.type === 'session' && needed === 'operate') {
    throw new AgentprotoError('delegation_denied', 'The session may not start or drive other sessions', {
      hint: 'Start it with "delegation": {} in the request',
    })
  }
  throw new AgentprotoError('forbidden', 'The token does not have the required scope', {
    expected: needed === undefined ? 'the owner’s token' : `a token with the scope ${needed}`,
    given: by.type === 'token' ? `the scope ${by.scope}` : by.name,
  })
}

/**
 * What is answered after the token of its caller has ended is nothing for that caller.
 * @param ended Aborts with the token; absent for the owner, whose token never ends
 * @throws `unauthorized` when it has ended before or meanwhile
 */
export async function whileTokenIsValid<T>(ended: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (ended === undefined) return work()
  if (ended.aborted) throw tokenEnded()
  try {
    const result = await work()
    if (!ended.aborted) return result
  } catch (thrown) {
    if (!ended.aborted) throw thrown
  }
  throw tokenEnded()
}

/** What a caller waits for ends with its token. */
export const tokenEnded = (): AgentprotoError =>
  new AgentprotoError('unauthorized', 'The token ended while the request was answered', {
    expected: 'a token that is valid until the answer',
    hint: 'What was begun goes on; see it with a valid token',
  })

/**
 * Checks that a principal may decide about future requests. An agent may not, not even for its children, whose permissions are
 * a subset of its own. Rules of a workspace need the scope `admin`.
 * @throws `forbidden`
 */
export function assertMayDecideAhead(by: Principal, lifetime: 'once' | 'session' | 'workspace'): void {
  if (by.type !== 'session' && (lifetime !== 'workspace' || mayUse(by, 'admin'))) return
  throw new AgentprotoError('forbidden', 'The token may not decide about future requests', {
    expected: lifetime === 'workspace' ? 'a token with the scope admin' : 'a token that does not belong to a session',
    given: by.type === 'token' ? `the scope ${by.scope}` : by.name,
  })
}

/**
 * The sessions that a principal may use with a scope; undefined for all. An agent reads its own session, and drives only its
 * descendants: it must not answer, prompt or end itself.
 */
export function boundsOf(by: Principal, needed: Scope | undefined): SessionBounds | undefined {
  if (by.type === 'session') return { under: by.sessionId, itself: needed === 'read' }
  if (by.type !== 'token' || by.workspaces === undefined) return undefined
  return { workspaces: by.workspaces, ...(by.folders && { folders: by.folders }) }
}

/** Whether a token covers a workspace: by its slug, and by the folder that the slug had when the token was created. */
export function coversWorkspace(
  { workspaces, folders }: Pick<TokenPrincipal, 'workspaces' | 'folders'>,
  { slug, path }: Pick<Workspace, 'slug' | 'path'>,
): boolean {
  if (workspaces === undefined) return true
  if (!workspaces.includes(slug)) return false
  return folders === undefined || (Object.hasOwn(folders, slug) && folders[slug] === path)
}

/** The workspaces that a principal may see. An agent sees none: its children run in its own folders. */
export function visibleWorkspaces(file: WorkspacesFile, by: Principal): WorkspacesFile {
  if (by.type === 'owner' || (by.type === 'token' && by.workspaces === undefined)) return file
  const { active, version } = file
  const workspaces = file.workspaces.filter((each) => by.type === 'token' && coversWorkspace(by, each))
  const isActiveSeen = workspaces.some(({ slug }) => slug === active)
  return { version, ...(active !== undefined && isActiveSeen ? { active } : {}), workspaces }
}

/** The hosts, with the names of those of their workspaces that a principal may see. Folders are checked where a session is started. */
export function visibleHosts(hosts: readonly Host[], by: Principal): readonly Host[] {
  if (by.type === 'owner' || (by.type === 'token' && by.workspaces === undefined)) return hosts
  const visible = by.type === 'token' ? by.workspaces : []
  return hosts.map((host) => ({ ...host, workspaces: host.workspaces.filter((slug) => visible?.includes(slug)) }))
}

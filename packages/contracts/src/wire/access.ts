import { AgentprotoError } from '../errors.js'
import type { Principal, Scope } from '../principal.js'
import type { WorkspacesFile } from '../workspace.js'

// Who may do what; the scopes are in the table of operations. What has none is only for the owner.

/** The sessions that a principal reaches: all of these must hold. */
export interface SessionBounds {
  /** Those of these workspaces. */
  readonly workspaces?: readonly string[]
  /** The descendants of this session. */
  readonly under?: string
  /** With `under`: that session too. */
  readonly itself?: boolean
}

/** Whether a principal may use what needs a scope; a row that is missing is the owner's alone. */
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

/**
 * Refuses a principal that may not use what needs a scope.
 * @throws `forbidden`, `delegation_denied` for a session
 */
export function assertMayUse(by: Principal, needed: Scope | undefined): void {
  if (mayUse(by, needed)) return
  if (by.type === 'session' && needed === 'operate') {
    throw new AgentprotoError('delegation_denied', 'The session was not granted delegation', {
      hint: 'Whoever starts it may grant it: "delegation": {} in the request',
    })
  }
  throw new AgentprotoError('forbidden', 'The token does not allow this', {
    expected: needed === undefined ? 'the owner’s token' : `a token with the scope ${needed}`,
    given: by.type === 'token' ? `the scope ${by.scope}` : by.name,
  })
}

/**
 * Refuses a principal that may not change how requests are answered from now on. An agent may not for its children
 * either, whose permissions are a part of its own; what holds in a workspace is for those who run the gateway.
 * @throws `forbidden`
 */
export function assertMayDecideAhead(by: Principal, lifetime: 'once' | 'session' | 'workspace'): void {
  if (by.type !== 'session' && (lifetime !== 'workspace' || mayUse(by, 'admin'))) return
  throw new AgentprotoError('forbidden', 'The token does not allow deciding ahead of a request', {
    expected: lifetime === 'workspace' ? 'a token with the scope admin' : 'a token that is no session’s',
    given: by.type === 'token' ? `the scope ${by.scope}` : by.name,
  })
}

/**
 * The sessions that a principal reaches with what needs a scope; undefined for all. An agent reads its own session,
 * and drives only those below it: it must not answer, prompt or end itself.
 */
export function boundsOf(by: Principal, needed: Scope | undefined): SessionBounds | undefined {
  if (by.type === 'session') return { under: by.sessionId, itself: needed === 'read' }
  return by.type === 'token' && by.workspaces !== undefined ? { workspaces: by.workspaces } : undefined
}

/** The workspaces that a principal sees. An agent sees none: its children run in its own ground. */
export function visibleWorkspaces(file: WorkspacesFile, by: Principal): WorkspacesFile {
  if (by.type === 'owner' || (by.type === 'token' && by.workspaces === undefined)) return file
  const bounds = new Set(by.type === 'token' ? by.workspaces : [])
  const { active, version } = file
  const workspaces = file.workspaces.filter(({ slug }) => bounds.has(slug))
  return { version, ...(active !== undefined && bounds.has(active) ? { active } : {}), workspaces }
}

import { AgentprotoError } from './errors.js'
import type { Principal, Scope } from './principal.js'
import type { WorkspacesFile } from './workspace.js'

/**
 * Who may do what, in one table for HTTP and MCP. What has no row is the owner's alone, and a test fails for a route
 * or a tool that has none.
 */

/** Scope that a route takes, by method and path. `/health`, `/auth/exchange` and preflights need nobody. */
export const ROUTE_SCOPES: Readonly<Record<string, Scope>> = {
  'GET /sessions': 'read',
  'POST /sessions/agent': 'operate',
  'GET /sessions/:id': 'read',
  'DELETE /sessions/:id': 'operate',
  'POST /sessions/:id/prompt': 'operate',
  'POST /sessions/:id/interrupt': 'operate',
  'POST /sessions/:id/cancel': 'operate',
  'POST /sessions/:id/resume': 'operate',
  'POST /sessions/:id/kill': 'operate',
  'POST /sessions/:id/config': 'operate',
  'POST /sessions/:id/fork': 'operate',
  'POST /sessions/:id/repair': 'operate',
  'GET /sessions/:id/export': 'read',
  'GET /sessions/:id/transcript': 'read',
  'POST /sessions/import': 'admin',
  'POST /sessions/prune': 'admin',
  'GET /search': 'read',
  'GET /sessions/:id/output': 'read',
  'GET /sessions/:id/turns': 'read',
  'GET /sessions/:id/turns/:turn': 'read',
  'GET /sessions/:id/stream': 'read',
  'GET /sessions/:id/events': 'read',
  'GET /sessions/:id/requests': 'read',
  'POST /sessions/:id/requests/:requestId': 'operate',
  'GET /sessions/:id/rules': 'read',
  'POST /sessions/:id/rules': 'admin',
  'DELETE /sessions/:id/rules/:ruleId': 'admin',
  // Below it are the routes of /sessions, with the same scopes.
  'POST /agents/:agent/sessions': 'operate',
  'GET /requests': 'read',
  'GET /events': 'read',
  'GET /workspaces': 'read',
  'POST /workspaces': 'admin',
  'DELETE /workspaces/:slug': 'admin',
  'POST /workspaces/:slug/use': 'admin',
  'GET /workspaces/:slug/rules': 'admin',
  'POST /workspaces/:slug/rules': 'admin',
  'DELETE /workspaces/:slug/rules/:ruleId': 'admin',
  'GET /adapters': 'read',
  'POST /adapters': 'admin',
  'GET /adapters/:slug': 'read',
  'GET /adapters/:slug/state': 'read',
  'POST /adapters/:slug/install': 'admin',
  'POST /adapters/:slug/setup': 'admin',
  'POST /adapters/:slug/login': 'admin',
  'POST /adapters/:slug/doctor': 'admin',
  'GET /secrets': 'admin',
  'GET /tokens': 'admin',
  'POST /tokens': 'admin',
  'DELETE /tokens/:name': 'admin',
  'POST /tokens/:name/rotate': 'admin',
  'POST /auth/code': 'admin',
  'GET /openapi.json': 'read',
  'GET /metrics': 'read',
  // Each of its tools has a row of its own.
  'ALL /mcp': 'read',
}

/** The scope of a route, given as `<method> <path>`; of one agent's sessions as of all sessions. */
export function scopeOfRoute(key: string): Scope | undefined {
  return ROUTE_SCOPES[key] ?? ROUTE_SCOPES[key.replace(' /agents/:agent/sessions', ' /sessions')]
}

/** Scope that an MCP tool takes. */
export const TOOL_SCOPES: Readonly<Record<string, Scope>> = {
  start_agent_session: 'operate',
  prompt_agent_session: 'operate',
  list_agent_sessions: 'read',
  get_agent_session_output: 'read',
  kill_agent_session: 'operate',
  get_agent_session: 'read',
  wait_agent_turn: 'read',
  interrupt_agent_session: 'operate',
  resume_agent_session: 'operate',
  answer_agent_request: 'operate',
  list_agent_adapters: 'read',
  list_agent_workspaces: 'read',
}

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

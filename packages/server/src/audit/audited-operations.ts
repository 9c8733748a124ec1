import type {
  AdapterService,
  ContentBlock,
  PermissionService,
  SessionArchive,
  SessionService,
  TokenService,
  WorkspaceService,
} from '@agentproto/contracts'
import type { AuditRows } from './with-audit.js'

/**
 * What the audit log says about each operation that changes something, whichever surface it came by. What was said to an
 * agent is in the session's own events; the audit log has its length. No token and no answer to a setup question is here.
 */
export const SESSION_ROWS: AuditRows<SessionService> = {
  spawn: ({ adapter, cwd, workspaceSlug, mode, permissionMode, delegation, prompt }, by) => {
    const about = { adapter, cwd, workspaceSlug, mode, permissionMode, delegates: delegation !== undefined }
    return { action: 'spawn', by, about: { ...about, promptChars: charsOf(prompt) } }
  },
  prompt: (session, { prompt, whenBusy }, by) => ({
    action: 'prompt',
    by,
    session,
    about: { promptChars: charsOf(prompt), whenBusy },
  }),
  // Its session is the new one.
  fork: (from, { prompt }, by) => ({ action: 'fork', by, about: { from, promptChars: charsOf(prompt) } }),
  resume: (session, request, by) => ({ action: 'resume', by, session, about: { ...request } }),
  configure: (session, { mode, model, permissionMode, options }, by) => {
    const about = { mode, model, permissionMode, options: options && Object.keys(options).slice(0, 50) }
    return { action: 'configure', by, session, about }
  },
  interrupt: (session, by, request) => ({ action: 'interrupt', by, session, about: { ...request } }),
  kill: (session, by, reason) => {
    const about = { reason: typeof reason === 'object' ? 'hook_stopped' : reason }
    return { action: 'kill', by, session, about }
  },
  forget: (session, by) => ({ action: 'forget', by, session }),
  answer: ({ id: session, requestId: request }, answer, by) => {
    const { optionId: option, remember } = answer.outcome === 'selected' ? answer : { optionId: undefined }
    return { action: 'answer', by, session, about: { request, answer: answer.outcome, option, remember } }
  },
}

export const PERMISSION_ROWS: AuditRows<PermissionService> = {
  addRule: (scope, request, by) => ({ action: 'rule-add', by, about: { ...request, ...aboutScope(scope) } }),
  removeRule: (scope, rule, by) => ({ action: 'rule-remove', by, about: { rule, ...aboutScope(scope) } }),
}

export const ARCHIVE_ROWS: AuditRows<SessionArchive> = {
  prune: (request, by) => ({ action: 'prune', by, about: { ...request } }),
  repair: (session, options, by) => ({ action: 'repair', by, session, about: { ...options } }),
  import: (_text, by) => ({ action: 'import', by }),
}

export const TOKEN_ROWS: AuditRows<TokenService> = {
  create: ({ name, scope, workspaces }, by) => ({
    action: 'token-create',
    by,
    about: { token: name, scope, workspaces },
  }),
  revoke: (token, by) => ({ action: 'token-revoke', by, about: { token } }),
  rotate: (token, by) => ({ action: 'token-rotate', by, about: { token } }),
}

export const WORKSPACE_ROWS: AuditRows<WorkspaceService> = {
  add: ({ path, slug, use }, by) => ({ action: 'workspace-add', by, about: { workspace: slug, path, use } }),
  remove: (workspace, by) => ({ action: 'workspace-remove', by, about: { workspace } }),
  use: (workspace, by) => ({ action: 'workspace-use', by, about: { workspace } }),
}

export const ADAPTER_ROWS: AuditRows<AdapterService> = {
  add: (source, by) => ({ action: 'adapter-add', by, about: { source } }),
  provision: (adapter, { until, force, allowUnverified, workspaceSlug: workspace }, by) => ({
    action: `adapter-${until}`,
    by,
    about: { adapter, force, allowUnverified, workspace },
  }),
  doctor: (adapter, { live }, by) => ({ action: 'adapter-doctor', by, about: { adapter, live } }),
}

const aboutScope = (scope: { readonly sessionId: string } | { readonly workspaceSlug: string }): object =>
  'sessionId' in scope ? { session: scope.sessionId } : { workspace: scope.workspaceSlug }

function charsOf(prompt: string | readonly ContentBlock[] | undefined): number | undefined {
  if (prompt === undefined || typeof prompt === 'string') return prompt?.length
  return prompt.reduce((sum, block) => sum + blockChars(block), 0)
}

function blockChars(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length
  if (block.type === 'resource_link') return block.uri.length
  if (block.type !== 'resource') return block.data.length
  const { text, blob } = block.resource as { readonly text?: string; readonly blob?: string }
  return (text ?? blob ?? '').length
}

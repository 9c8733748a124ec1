import type { ContentBlock, Principal, TokenService } from '@agentproto/contracts'
import type { SessionRegistry } from '@agentproto/session-registry'
import { overridden } from '../agents/overridden.js'
import { type Action, type Log, noted } from './noted.js'

type Prompt = string | readonly ContentBlock[]

/** A registry that writes down every action of its callers, whichever surface they come by, and how it ended. */
export function audited(registry: SessionRegistry, log: Log): SessionRegistry {
  const on = (action: string, session: string, by: Principal): Action => ({ action, session, by })
  return overridden(registry, {
    spawn: (request, by) => {
      const { adapter, cwd, workspaceSlug, mode, permissionMode, delegation, prompt } = request
      const about = { adapter, cwd, workspaceSlug, mode, permissionMode, delegates: delegation !== undefined }
      const action = { action: 'spawn', by, about: { ...about, promptChars: charsOf(prompt) }, made: idOf }
      return noted(log, action, () => registry.spawn(request, by))
    },
    prompt: (id, request, by) => {
      const about = { promptChars: charsOf(request.prompt), whenBusy: request.whenBusy }
      return noted(log, { ...on('prompt', id, by), about }, () => registry.prompt(id, request, by))
    },
    fork: (id, request, by) => {
      const about = { from: id, promptChars: charsOf(request.prompt) }
      return noted(log, { action: 'fork', by, about, made: idOf }, () => registry.fork(id, request, by))
    },
    resume: (id, request, by) =>
      noted(log, { ...on('resume', id, by), about: { ...request } }, () => registry.resume(id, request, by)),
    configure: (id, request, by) => {
      const { mode, model, permissionMode, options } = request
      const about = { mode, model, permissionMode, options: options && Object.keys(options).slice(0, 50) }
      return noted(log, { ...on('configure', id, by), about }, () => registry.configure(id, request, by))
    },
    interrupt: (id, by, request) =>
      noted(log, { ...on('interrupt', id, by), about: { ...request } }, () => registry.interrupt(id, by, request)),
    kill: (id, by, reason) => {
      const about = { reason: typeof reason === 'object' ? 'hook_stopped' : reason }
      return noted(log, { ...on('kill', id, by), about }, () => registry.kill(id, by, reason))
    },
    forget: (id, by) => noted(log, on('forget', id, by), () => registry.forget(id, by)),
    answer: (which, answer, by) => {
      const { requestId: request, id } = which
      const remember = answer.outcome === 'selected' ? answer.remember : undefined
      const option = answer.outcome === 'selected' ? answer.optionId : undefined
      const about = { request, answer: answer.outcome, option, remember }
      return noted(log, { ...on('answer', id, by), about }, () => registry.answer(which, answer, by))
    },
    permissions: auditedPermissions(registry.permissions, log),
    archive: auditedArchive(registry.archive, log),
  })
}

/** The same of named tokens; a token's value is in no line. */
export function auditedTokens(tokens: TokenService, log: Log): TokenService {
  return overridden(tokens, {
    create: (request, by) => {
      const { name: token, scope, workspaces } = request
      const about = { token, scope, workspaces }
      return noted(log, { action: 'token-create', by, about }, () => tokens.create(request, by))
    },
    revoke: (token, by) => noted(log, { action: 'token-revoke', by, about: { token } }, () => tokens.revoke(token, by)),
    rotate: (token, by) => noted(log, { action: 'token-rotate', by, about: { token } }, () => tokens.rotate(token, by)),
  })
}

function auditedPermissions(permissions: SessionRegistry['permissions'], log: Log): SessionRegistry['permissions'] {
  return overridden(permissions, {
    addRule: (scope, request, by) =>
      noted(log, { action: 'rule-add', by, about: { ...request, ...scoped(scope) } }, () =>
        permissions.addRule(scope, request, by),
      ),
    removeRule: (scope, rule, by) =>
      noted(log, { action: 'rule-remove', by, about: { rule, ...scoped(scope) } }, () =>
        permissions.removeRule(scope, rule, by),
      ),
  })
}

function auditedArchive(archive: SessionRegistry['archive'], log: Log): SessionRegistry['archive'] {
  return overridden(archive, {
    prune: (request, by) =>
      noted(log, { action: 'prune', by, about: { ...request } }, () => archive.prune(request, by)),
    repair: (id, options, by) =>
      noted(log, { action: 'repair', session: id, by, about: { ...options } }, () => archive.repair(id, options, by)),
    import: (text, by) => noted(log, { action: 'import', by, made: idOf }, () => archive.import(text, by)),
  })
}

const idOf = ({ id }: { readonly id: string }): string => id

const scoped = (scope: { readonly sessionId: string } | { readonly workspaceSlug: string }): object =>
  'sessionId' in scope ? { session: scope.sessionId } : { workspace: scope.workspaceSlug }

/** How much a caller said: what was said is in the session's own events. */
function charsOf(prompt: Prompt | undefined): number | undefined {
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

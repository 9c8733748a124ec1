import type { Clock, NewId, PermissionRule, Principal, RuleScope } from '@agentproto/contracts'
import type { AddRuleRequest, PermissionService } from '@agentproto/contracts/wire'
import type { SessionHandle } from '../session/session-handle.js'
import { matchOf } from './rule-making.js'
import type { WorkspaceRules } from './workspace-rules.js'

/** The permission rules of a registry's sessions and workspaces. */

export interface PermissionServiceOptions {
  /** @throws `session_not_found` */
  readonly session: (id: string) => SessionHandle
  readonly sessions: () => Iterable<SessionHandle>
  readonly save: (session: SessionHandle) => Promise<void>
  readonly workspaceRules: WorkspaceRules
  readonly clock: Clock
  readonly newId: NewId
}

export function permissionService(options: PermissionServiceOptions): PermissionService {
  const { session, sessions, save, workspaceRules, clock, newId } = options

  async function addToSession(id: string, request: AddRuleRequest, by: Principal): Promise<PermissionRule> {
    const { decision, lifetime = 'session' } = request
    const managed = session(id)
    const match = await matchOf(request, managed.permissions.cwd)
    const rule = await managed.permissions.add({ decision, lifetime, match, createdBy: by.name })
    await managed.review()
    await save(managed)
    return rule
  }

  async function addToWorkspace(slug: string, request: AddRuleRequest, by: Principal): Promise<PermissionRule> {
    const match = await matchOf(request, await workspaceRules.folder(slug))
    const rule = await workspaceRules.add(slug, {
      ruleId: newId('pr_'),
      decision: request.decision,
      lifetime: 'workspace',
      match,
      createdAt: new Date(clock.now()).toISOString(),
      createdBy: by.name,
    })
    await reviewAll(sessions())
    return rule
  }

  async function removeFromSession(id: string, ruleId: string): Promise<void> {
    const managed = session(id)
    managed.permissions.remove(ruleId)
    await save(managed)
  }

  return {
    rules: async (scope) =>
      isOfSession(scope) ? session(scope.sessionId).permissions.all() : workspaceRules.list(scope.workspaceSlug),
    addRule: (scope, request, by) =>
      isOfSession(scope)
        ? addToSession(scope.sessionId, request, by)
        : addToWorkspace(scope.workspaceSlug, request, by),
    removeRule: (scope, ruleId) =>
      isOfSession(scope)
        ? removeFromSession(scope.sessionId, ruleId)
        : workspaceRules.remove(scope.workspaceSlug, ruleId),
  }
}

/** A new rule may answer pending requests of any session. */
export async function reviewAll(sessions: Iterable<SessionHandle>): Promise<void> {
  await Promise.all(Array.from(sessions, (session) => session.review()))
}

const isOfSession = (scope: RuleScope): scope is RuleScope & { readonly sessionId: string } => 'sessionId' in scope

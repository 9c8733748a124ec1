import type { PermissionRule, RuleScope } from '@agentproto/contracts'
import type { AddRuleRequest, AllRules } from '@agentproto/contracts/wire'
import type { Transport } from './transport.js'

/**
 * The rules that answer permission requests without a person, including those of remembered answers. Every call can throw
 * `session_not_found` or `workspace_not_found`; those of a workspace, and every change, need the owner or the scope `admin`.
 */
export type PermissionsClient = ReturnType<typeof permissionsClient>

export function permissionsClient({ call }: Transport) {
  return {
    /** The rules of a workspace; of a session, its own and then those of its workspace. */
    async list(scope: RuleScope): Promise<readonly PermissionRule[]> {
      const { rules } = await ('sessionId' in scope
        ? call('GET /sessions/:id/rules', { params: { id: scope.sessionId } })
        : call('GET /workspaces/:slug/rules', { params: { slug: scope.workspaceSlug } }))
      return rules
    },
    /** The rules of all workspaces, then those of the sessions, newest first; at most 10,000. Needs the scope `admin`. */
    all: (): Promise<AllRules> => call('GET /rules', {}),
    /** Adds a rule once; it answers what is pending. @throws `invalid_request`, `rule_limit_reached`, `storage_failed` */
    add: (scope: RuleScope, body: AddRuleRequest): Promise<PermissionRule> =>
      'sessionId' in scope
        ? call('POST /sessions/:id/rules', { params: { id: scope.sessionId }, body })
        : call('POST /workspaces/:slug/rules', { params: { slug: scope.workspaceSlug }, body }),
    /** @throws `rule_not_found`, `storage_failed` */
    async remove(scope: RuleScope, ruleId: string): Promise<void> {
      await ('sessionId' in scope
        ? call('DELETE /sessions/:id/rules/:ruleId', { params: { id: scope.sessionId, ruleId } })
        : call('DELETE /workspaces/:slug/rules/:ruleId', { params: { slug: scope.workspaceSlug, ruleId } }))
    },
  }
}

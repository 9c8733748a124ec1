import type { AddRuleRequest, PermissionRule, RuleScope } from '@agentproto/contracts'
import type { Transport } from './transport.js'

/**
 * The rules that answer permission requests without a person, those of remembered answers among them. Every call can
 * throw `session_not_found` or `workspace_not_found`; those of a workspace, and every change, need the owner or the
 * scope `admin`.
 */
export interface PermissionsClient {
  /** The rules of a workspace; of a session, its own and then its workspace's. */
  list(scope: RuleScope): Promise<readonly PermissionRule[]>
  /**
   * Makes a rule; the same one made twice is one. Requests that wait are answered by it at once.
   * @throws `invalid_request` naming the field, `rule_limit_reached`, `storage_failed`
   */
  add(scope: RuleScope, request: AddRuleRequest): Promise<PermissionRule>
  /** @throws `rule_not_found`, `storage_failed` */
  remove(scope: RuleScope, ruleId: string): Promise<void>
}

export function permissionsClient(transport: Transport): PermissionsClient {
  return {
    async list(scope) {
      const { rules } = await transport.json<{ rules: PermissionRule[] }>({ path: rulesOf(scope) })
      return rules
    },
    add: (scope, body) => transport.json({ method: 'POST', path: rulesOf(scope), body }),
    async remove(scope, ruleId) {
      await transport.json({ method: 'DELETE', path: `${rulesOf(scope)}/${encodeURIComponent(ruleId)}` })
    },
  }
}

const rulesOf = (scope: RuleScope): string =>
  'sessionId' in scope
    ? `/sessions/${encodeURIComponent(scope.sessionId)}/rules`
    : `/workspaces/${encodeURIComponent(scope.workspaceSlug)}/rules`

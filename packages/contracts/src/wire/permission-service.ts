import type { PermissionRule, RuleScope } from '../permission-rule.js'
import type { Principal } from '../principal.js'
import type { AddRuleRequest } from './requests.js'

/** The rules of a host's sessions and workspaces. */
export interface PermissionService {
  /**
   * The rules of a workspace; of a session, its own and then its workspace's.
   * @throws `session_not_found`, `workspace_not_found`, as the calls below
   */
  rules(scope: RuleScope): Promise<readonly PermissionRule[]>
  /**
   * Makes a rule; the same one made twice is one. Requests that wait are answered by it at once.
   * @throws `invalid_request` naming the field, `rule_limit_reached`, `storage_failed`
   */
  addRule(scope: RuleScope, request: AddRuleRequest, by: Principal): Promise<PermissionRule>
  /** @throws `rule_not_found`, `storage_failed` */
  removeRule(scope: RuleScope, ruleId: string, by: Principal): Promise<void>
}

import type { RuleScope } from '../permission-rule.js'
import type { Principal } from '../principal.js'
import type { AddRuleRequest } from './requests.js'
import type { AllRules, PermissionRule } from './session-responses.js'

/** The permission rules of sessions and workspaces. */
export interface PermissionService {
  /**
   * The rules of a workspace; of a session, its own and then those of its workspace.
   * @throws `session_not_found`, `workspace_not_found`, as do the calls below
   */
  rules(scope: RuleScope): Promise<readonly PermissionRule[]>
  /**
   * The rules of these workspaces, then the own ones of all sessions, newest session first; at most 10,000. A workspace whose
   * rules cannot be read is in `unread`.
   */
  allRules(workspaces: readonly string[]): Promise<AllRules>
  /** Adds a rule once; it answers what is pending. @throws `invalid_request`, `rule_limit_reached`, `storage_failed` */
  addRule(scope: RuleScope, request: AddRuleRequest, by: Principal): Promise<PermissionRule>
  /** @throws `rule_not_found`, `storage_failed` */
  removeRule(scope: RuleScope, ruleId: string, by: Principal): Promise<void>
}

import { AgentprotoError, type Clock, type NewId, type PermissionRule } from '@agentproto/contracts'
import { ruleHolds } from './rule-match.js'
import type { ToolFacts } from './tool-facts.js'

/** Lists of rules. Bounded: 200 for a session, 1,000 for a workspace, 10,000 where those of all are listed. */

export const MAX_SESSION_RULES = 200
export const MAX_WORKSPACE_RULES = 1_000
export const MAX_LISTED_RULES = 10_000

/** A rule before it is made. */
export type RuleDraft = Omit<PermissionRule, 'ruleId' | 'createdAt'>

/** What makes a rule of a draft. */
export interface RuleMaker {
  readonly clock: Clock
  readonly newId: NewId
}

export const ruleOf = (draft: RuleDraft, { clock, newId }: RuleMaker): PermissionRule => ({
  ruleId: newId('pr_'),
  createdAt: new Date(clock.now()).toISOString(),
  ...draft,
})

export const isDenial = ({ decision }: PermissionRule): boolean => decision === 'deny'

/**
 * The rule that decides about a call: any that denies, else one that allows; of these a lasting one before one that is
 * used up.
 */
export function decidingRule(
  rules: readonly PermissionRule[],
  facts: ToolFacts,
  roots: readonly string[],
): PermissionRule | undefined {
  const holding = rules.filter((rule) => ruleHolds(rule, facts, roots))
  const denying = holding.filter(isDenial)
  const deciding = denying.length > 0 ? denying : holding
  return deciding.find(({ lifetime }) => lifetime !== 'once') ?? deciding[0]
}

/** The rules with one more, or as they are if it is among them. @throws `rule_limit_reached` */
export function withRule(
  rules: readonly PermissionRule[],
  rule: PermissionRule,
  max: number,
): readonly PermissionRule[] {
  if (sameRule(rules, rule) !== undefined) return rules
  if (rules.length < max) return [...rules, rule]
  throw new AgentprotoError('rule_limit_reached', `There are ${rules.length} rules already`, {
    expected: `at most ${max}`,
    hint: 'Remove some, or write one with a pattern for them',
  })
}

/** The rules without one of them. @throws `rule_not_found` */
export function withoutRule(rules: readonly PermissionRule[], ruleId: string): readonly PermissionRule[] {
  const rest = rules.filter((rule) => rule.ruleId !== ruleId)
  if (rest.length < rules.length) return rest
  throw new AgentprotoError('rule_not_found', 'There is no such rule', {
    given: ruleId,
    hint: 'List them with GET /sessions/:id/rules or GET /workspaces/:slug/rules',
  })
}

/** The same rule made twice is one rule. */
export const sameRule = (
  rules: readonly PermissionRule[],
  { decision, lifetime, match }: PermissionRule,
): PermissionRule | undefined =>
  rules.find(
    (rule) =>
      rule.decision === decision && rule.lifetime === lifetime && JSON.stringify(rule.match) === JSON.stringify(match),
  )

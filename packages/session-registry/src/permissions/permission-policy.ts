import type {
  AgentAnswer,
  AgentRequest,
  PermissionMode,
  PermissionOption,
  PermissionRequest,
  PermissionRule,
} from '@agentproto/contracts'
import { allows } from './rule-match.js'
import type { ToolFacts } from './tool-facts.js'

/** The answers of rules and permission modes, with their reason. */

export interface PolicyAnswer {
  readonly answer: AgentAnswer
  /** The mode, or the id of the rule. */
  readonly rule: string
}

/** The answer of a mode. Returns undefined when a person has to be asked. */
export function answerOfMode(
  request: AgentRequest,
  mode: PermissionMode,
  { facts, roots }: { readonly facts?: ToolFacts; readonly roots: readonly string[] },
): PolicyAnswer | undefined {
  switch (mode) {
    case 'ask':
      return undefined
    case 'deny-all':
      return { answer: denial(request, 'The permission mode is deny-all.'), rule: mode }
    case 'approve-reads':
      return facts !== undefined && readsInside(facts, roots) ? approval(request, facts, mode) : undefined
    case 'approve-all':
      return approval(request, facts, mode)
    default:
      mode satisfies never
      return { answer: denial(request, `The permission mode ${String(mode)} is unknown.`), rule: 'unknown mode' }
  }
}

/** No mode answers a question, nor leaves a plan: that is a decision about everything that follows. */
const approval = (
  request: AgentRequest,
  facts: ToolFacts | undefined,
  mode: PermissionMode,
): PolicyAnswer | undefined =>
  request.kind === 'question' || facts === undefined || facts.leavesPlan ? undefined : allowance(request, mode)

/** The answer of the rule that decides. Returns undefined when the agent offers no such option. */
export function answerOfRule(request: PermissionRequest, rule: PermissionRule): PolicyAnswer | undefined {
  if (rule.decision === 'allow') return allowance(request, rule.ruleId)
  const scope = rule.lifetime === 'workspace' ? 'workspace' : 'session'
  return { answer: denial(request, `A rule of the ${scope} denies it.`), rule: rule.ruleId }
}

/** With NUL in it, the path that is checked is not the path that is opened. */
export const answerOfNul = (request: AgentRequest): PolicyAnswer => ({
  answer: denial(request, 'It names a path or a command that holds NUL.'),
  rule: 'nul',
})

/**
 * The answer that denies: the agent's option to reject once, else a cancellation. Only a person may choose to reject
 * always.
 */
export function denial(request: AgentRequest, reason: string): AgentAnswer {
  if (request.kind === 'question') return { outcome: 'decline', reason }
  const option = optionOf(request, 'reject_once')
  return option === undefined
    ? { outcome: 'cancelled', reason }
    : { outcome: 'selected', optionId: option.optionId, reason }
}

/** Allow-once is never raised to allow-always. */
function allowance(request: PermissionRequest, rule: string): PolicyAnswer | undefined {
  const option = optionOf(request, 'allow_once')
  return option && { answer: { outcome: 'selected', optionId: option.optionId }, rule }
}

const optionOf = (request: PermissionRequest, kind: PermissionOption['kind']): PermissionOption | undefined =>
  request.options.find((option) => option.kind === kind)

/** Everything that it reads lies inside the session's folders. */
const readsInside = (facts: ToolFacts, roots: readonly string[]): boolean =>
  (facts.kind === 'read' || facts.kind === 'search') && allows({ toolKind: facts.kind }, facts, roots)

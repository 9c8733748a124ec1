import {
  AgentprotoError,
  type AgentAnswer,
  type AnsweredBy,
  type PermissionRequest,
  type RuleMatch,
  type SessionRequest,
} from '@agentproto/contracts'
import { matchOfRequest } from './rule-making.js'
import type { RuleDraft } from './rule-book.js'
import type { SessionPermissions } from './session-permissions.js'

/** How an answer becomes a rule. */

/**
 * The rule of an answer, if it is to be remembered. An answer for once becomes a rule for that call only.
 * @throws `invalid_request` when the request says too little to match it again, or the session has no workspace
 */
export async function draftOfAnswer(
  permissions: SessionPermissions,
  { request, facts, requestId, sessionId, state }: SessionRequest,
  { answer, by }: { readonly answer: AgentAnswer; readonly by: AnsweredBy },
): Promise<RuleDraft | undefined> {
  const decision = decisionOf(request, answer)
  if (request.kind === 'question' || decision === undefined || answer.outcome !== 'selected') return undefined
  const { remember: lifetime } = answer
  // The agent waits for an answer for once, so there is nothing to remember.
  if (lifetime === undefined || (lifetime === 'once' && state === 'pending')) return undefined
  if (lifetime === 'workspace') await permissions.assertWorkspace()
  const match = await matchShown({ request, facts }, { cwd: permissions.cwd, decision, lifetime })
  if (match === undefined) {
    const what = 'The request cannot be remembered: it has only a title, which proves nothing'
    const parts = { expected: 'an answer without "remember"', data: { field: 'remember' } }
    throw new AgentprotoError('invalid_request', what, parts)
  }
  return { decision, lifetime, match, createdBy: nameOf(by), from: { sessionId, requestId } }
}

/** What the person was shown, if it was: a link may lead elsewhere by now. */
async function matchShown(
  { request, facts }: { readonly request: PermissionRequest; readonly facts: SessionRequest['facts'] },
  as: Pick<RuleDraft, 'decision' | 'lifetime'> & { readonly cwd: string },
): Promise<RuleMatch | undefined> {
  if (facts === undefined || (as.decision === 'deny' && as.lifetime === 'once')) return matchOfRequest(request, as)
  return as.decision === 'allow' ? facts.allowRule : facts.denyRule
}

/** What a person decided, as the decision of a rule. */
export function decisionOf(request: SessionRequest['request'], answer: AgentAnswer): RuleDraft['decision'] | undefined {
  if (request.kind === 'question' || answer.outcome !== 'selected') return undefined
  const { optionId } = answer
  const kind = request.options.find((option) => option.optionId === optionId)?.kind
  if (kind === undefined) return undefined
  return kind.startsWith('allow') ? 'allow' : 'deny'
}

export const nameOf = (by: AnsweredBy): string => (by.type === 'principal' ? by.name : by.type)

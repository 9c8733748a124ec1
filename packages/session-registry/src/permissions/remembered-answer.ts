import type { AgentAnswer, AnsweredBy, SessionRequest } from '@agentproto/contracts'
import { matchOfCall, matchOfRequest } from './rule-making.js'
import type { RuleDraft } from './rule-book.js'
import type { SessionPermissions } from './session-permissions.js'

/** How an answer becomes a rule. */

interface Given {
  readonly answer: AgentAnswer
  readonly by: AnsweredBy
}

/**
 * Prepares the rule of an answer. An answer for once becomes a rule for that call only.
 * @returns what makes it
 * @throws `invalid_request` when the request says too little to match it again, or the session has no workspace
 */
export async function rememberAnswer(
  permissions: SessionPermissions,
  { request, requestId, sessionId, state }: SessionRequest,
  { answer, by }: Given,
): Promise<() => Promise<void>> {
  const decision = decisionOf(request, answer)
  if (request.kind === 'question' || decision === undefined || answer.outcome !== 'selected') return nothing
  const { remember: lifetime = 'once' } = answer
  // The agent waits for this answer, so there is nothing to remember.
  if (lifetime === 'once' && state === 'pending') return nothing
  if (lifetime === 'workspace') await permissions.assertWorkspace()
  const narrow = lifetime === 'once' ? await matchOfCall(request, permissions.cwd) : undefined
  const match = narrow ?? (await matchOfRequest(request, permissions.cwd))
  const draft: RuleDraft = { decision, lifetime, match, createdBy: nameOf(by), from: { sessionId, requestId } }
  return async () => void (await permissions.add(draft))
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

const nothing = (): Promise<void> => Promise.resolve()

import type { AgentAnswer, AnsweredBy, Principal, SessionRequest } from '@agentproto/contracts'
import { assertMayDecideAhead } from '@agentproto/contracts/wire'
import { assertMayAnswer } from '../delegation/delegation.js'
import { draftOfAnswer } from '../permissions/remembered-answer.js'
import type { SessionHandle } from '../session/session-handle.js'
import { answerable, requestOf } from '../session/requests.js'

/**
 * Answers a request that waits; with `remember`, also one that was interrupted, for the next time it is asked.
 * @throws `request_not_found`, `request_resolved`, `request_interrupted`, `invalid_request`, `forbidden`
 */
export async function answerRequest(
  session: SessionHandle,
  requestId: string,
  { answer, by: caller }: { readonly answer: AgentAnswer; readonly by: Principal },
): Promise<SessionRequest> {
  assertMayGive(answer, { caller, request: requestOf(session.state, requestId) })
  const by: AnsweredBy = { type: 'principal', name: caller.name }
  const request = answerable(session.state, requestId, answer)
  // What cannot be remembered is refused before anything is answered.
  const rule = await draftOfAnswer(session.permissions, request, { answer, by })
  await session.call('answer', { requestId, answer, by })
  if (rule !== undefined) await session.permissions.add(rule)
  return requestOf(session.state, requestId) ?? request
}

function assertMayGive(
  answer: AgentAnswer,
  { caller, request }: { readonly caller: Principal; readonly request: SessionRequest | undefined },
): void {
  const remember = answer.outcome === 'selected' ? answer.remember : undefined
  if (remember !== undefined) assertMayDecideAhead(caller, remember)
  assertMayAnswer(caller, request?.request, answer)
}

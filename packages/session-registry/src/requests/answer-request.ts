import type { AgentAnswer, AnsweredBy, SessionRequest } from '@agentproto/contracts'
import { draftOfAnswer } from '../permissions/remembered-answer.js'
import type { SessionHandle } from '../session/session-handle.js'
import { answerable, requestOf } from '../session/requests.js'

/**
 * Answers a request that waits; with `remember`, also one that was interrupted, for the next time it is asked.
 * @throws `request_not_found`, `request_resolved`, `request_interrupted`, `invalid_request`
 */
export async function answerRequest(
  session: SessionHandle,
  requestId: string,
  { answer, by }: { readonly answer: AgentAnswer; readonly by: AnsweredBy },
): Promise<SessionRequest> {
  const request = answerable(session.state, requestId, answer)
  // What cannot be remembered is refused before anything is answered.
  const rule = await draftOfAnswer(session.permissions, request, { answer, by })
  await session.call('answer', { requestId, answer, by })
  if (rule !== undefined) await session.permissions.add(rule)
  return requestOf(session.state, requestId) ?? request
}

import type { AgentAnswer, AnsweredBy, SessionRequest } from '@agentproto/contracts'
import { rememberAnswer } from '../permissions/remembered-answer.js'
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
  const isRemembered = answer.outcome === 'selected' && answer.remember !== undefined
  // What cannot be remembered is refused before anything is answered.
  const remember = isRemembered ? await rememberAnswer(session.permissions, request, { answer, by }) : undefined
  await session.call('answer', { requestId, answer, by })
  await remember?.()
  return requestOf(session.state, requestId) ?? request
}

import {
  type AgentAnswer,
  AgentprotoError,
  type AgentRequest,
  type AnsweredBy,
  type SessionRequest,
} from '@agentproto/contracts'

/** Whether an answer fits a request, and the errors for one that cannot be given. */

/** @throws `invalid_request` for an answer that does not fit the request */
export function assertAnswer(request: AgentRequest, answer: AgentAnswer): void {
  if (answer.outcome === 'cancelled') return
  if (request.kind === 'question') {
    if (answer.outcome !== 'selected') return
    throw new AgentprotoError('invalid_request', 'A question takes no option', {
      expected: '{"action": "accept", "content": {…}}',
      given: answer,
    })
  }
  const known = request.options.map(({ optionId }) => optionId)
  if (answer.outcome === 'selected' && known.includes(answer.optionId)) return
  throw new AgentprotoError('invalid_request', 'The permission has no such option', {
    expected: `{"optionId": …} with one of ${known.join(', ')}`,
    given: answer,
  })
}

export function fitsRequest(request: AgentRequest, answer: AgentAnswer): boolean {
  try {
    assertAnswer(request, answer)
    return true
  } catch {
    return false
  }
}

export const noSuchRequest = (requestId: string): AgentprotoError =>
  new AgentprotoError('request_not_found', 'The session has no such request', {
    given: requestId,
    hint: 'List them with GET /sessions/:id/requests',
  })

export const answeredBefore = ({ answeredBy, answer }: SessionRequest, resolving = answeredBy): AgentprotoError =>
  new AgentprotoError('request_resolved', `The request was answered by ${nameOf(resolving)}`, {
    data: { answeredBy: resolving, answer },
  })

export const interruptedBefore = ({ answeredBy, resolvedAt, turn, request }: SessionRequest): AgentprotoError =>
  new AgentprotoError('request_interrupted', `The gateway ended while the request waited, and turn ${turn} with it`, {
    hint:
      request.kind === 'question'
        ? 'Resume the session; its agent may ask again'
        : 'Resume the session. To decide for the next time that the agent asks this, answer with "remember": "once"',
    data: { answeredBy, resolvedAt, turn },
  })

function nameOf(by: AnsweredBy | undefined): string {
  switch (by?.type) {
    case 'principal':
      return by.name
    case 'policy':
      return `the rule ${by.rule}`
    case 'timeout':
      return 'its time-out'
    case 'turn-end':
    case 'session-end':
      return 'the end of its turn'
    case 'gateway-end':
      return 'the end of the gateway'
    case undefined:
      return 'someone'
  }
}

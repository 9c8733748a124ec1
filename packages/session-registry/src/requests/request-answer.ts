import {
  type AgentAnswer,
  AgentprotoError,
  type AgentRequest,
  type AnsweredBy,
  type SessionRequest,
} from '@agentproto/contracts'

/** Whether an answer fits a request, and the errors for one that cannot be given. */

/** Why an answer does not fit its request; undefined for one that does. */
export function misfitOf(request: AgentRequest, answer: AgentAnswer): AgentprotoError | undefined {
  if (answer.outcome === 'cancelled') return undefined
  const isChoice = answer.outcome === 'selected'
  if (request.kind === 'question')
    return isChoice ? misfit('A question takes no option', '{"action": "accept", "content": {…}}', answer) : undefined
  const known = request.options.map(({ optionId }) => optionId)
  if (isChoice && known.includes(answer.optionId)) return undefined
  return misfit('The permission has no such option', `{"optionId": …} with one of ${known.join(', ')}`, answer)
}

const misfit = (what: string, expected: string, given: AgentAnswer): AgentprotoError =>
  new AgentprotoError('invalid_request', what, { expected, given })

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

import {
  AgentprotoError,
  type AgentRequest,
  type AnswerRequest,
  type PermissionOption,
  type PermissionRequest,
} from '@agentproto/contracts'

/** The answer that allows once, or accepts a question. Once is never raised to always. */
export function allowing(request: AgentRequest): AnswerRequest {
  if (request.kind === 'question') return { action: 'accept' }
  const option = optionOf(request, 'allow_once')
  if (option !== undefined) return { optionId: option.optionId }
  throw new AgentprotoError('invalid_request', 'It has no option that allows once', {
    hint: `Name one with --option: ${request.options.map(({ optionId }) => optionId).join(', ')}`,
  })
}

/** The answer that denies once, or declines a question. An agent that offers no denial is told that it was cancelled. */
export function denying(request: AgentRequest): AnswerRequest {
  if (request.kind === 'question') return { action: 'decline' }
  const option = optionOf(request, 'reject_once') ?? optionOf(request, 'reject_always')
  return option === undefined ? { action: 'cancel' } : { optionId: option.optionId }
}

const optionOf = ({ options }: PermissionRequest, kind: PermissionOption['kind']): PermissionOption | undefined =>
  options.find((option) => option.kind === kind)

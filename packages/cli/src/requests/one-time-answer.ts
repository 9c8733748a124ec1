import {
  AgentprotoError,
  type AgentRequest,
  type PermissionOption,
  type PermissionRequest,
} from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'

/** The answer that allows once, or accepts a question. It never allows for longer. */
export function allowOnce(request: AgentRequest): AnswerRequest {
  if (request.kind === 'question') return { action: 'accept' }
  const option = optionOf(request, 'allow_once')
  if (option !== undefined) return { optionId: option.optionId }
  throw new AgentprotoError('invalid_request', 'The request has no option that allows once', {
    hint: `Choose an option with --option: ${request.options.map(({ optionId }) => optionId).join(', ')}`,
  })
}

/** The answer that denies once, or declines a question. A request without such an option is cancelled. */
export function denyOnce(request: AgentRequest): AnswerRequest {
  if (request.kind === 'question') return { action: 'decline' }
  const option = optionOf(request, 'reject_once') ?? optionOf(request, 'reject_always')
  return option === undefined ? { action: 'cancel' } : { optionId: option.optionId }
}

const optionOf = ({ options }: PermissionRequest, kind: PermissionOption['kind']): PermissionOption | undefined =>
  options.find((option) => option.kind === kind)

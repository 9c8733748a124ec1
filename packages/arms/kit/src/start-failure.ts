import { AgentprotoError, toAgentprotoError } from '@agentproto/contracts'
import type { SessionOrigin } from '@agentproto/contracts/agent'

/** The error of a failed start: an agent that ended, ended before it was ready. */
export function startFailure(thrown: unknown): AgentprotoError {
  const error = toAgentprotoError(thrown, 'handshake_failed')
  if (error.code !== 'agent_exited') return error
  return new AgentprotoError('handshake_failed', error.message, { ...error.parts, cause: thrown })
}

/** The start was aborted by its host. */
export const startCancelled = (): AgentprotoError =>
  new AgentprotoError('cancelled', 'The start of the agent was cancelled')

/** The agent does not go on with the conversation. */
export const notResumable = ({ how, agentSessionId }: Exclude<SessionOrigin, { how: 'new' }>): AgentprotoError =>
  new AgentprotoError('not_resumable', `The agent cannot ${how} a session`, {
    given: agentSessionId,
    hint: NEW_CONVERSATION,
  })

/** What to do when an agent refuses an old conversation. */
export const NEW_CONVERSATION = 'Begin a new conversation, or start a new session.'

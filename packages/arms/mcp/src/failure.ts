import { AgentprotoError, asRecord, asString, isAgentprotoError, toAgentprotoError } from '@agentproto/contracts'

/** Says in our codes why a server could not be started with. */
export function startFailure(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) {
    // An agent that ended, ended before it was ready.
    if (thrown.code !== 'agent_exited') return thrown
    return new AgentprotoError('handshake_failed', thrown.message, { ...thrown.parts, cause: thrown })
  }
  const { code, message, name } = asRecord(thrown)
  if (name === 'UnauthorizedError' || code === 401 || asRecord(asRecord(thrown)['data'])['status'] === 401) {
    return new AgentprotoError('auth_required', 'The server wants a login', { cause: thrown })
  }
  if (typeof code === 'number' || typeof message === 'string') {
    return new AgentprotoError(
      'handshake_failed',
      `The agent refused the handshake: ${asString(message) ?? String(code)}`,
      {
        cause: thrown,
        ...(typeof code === 'number' ? { data: { agentCode: code } } : {}),
      },
    )
  }
  return toAgentprotoError(thrown, 'handshake_failed')
}

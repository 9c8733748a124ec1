import { startFailure } from '@agentproto/arm-kit'
import { AgentprotoError, asRecord, asString, isAgentprotoError, type Json } from '@agentproto/contracts'

/** Maps a failure of the start to an error code. */
export function handshakeFailure(thrown: unknown): AgentprotoError {
  if (isAgentprotoError(thrown)) return startFailure(thrown)
  const { code, message, name, data } = asRecord(thrown)
  if (name === 'UnauthorizedError' || code === 401 || asRecord(data)['status'] === 401) {
    return new AgentprotoError('auth_required', 'The server wants a login', { cause: thrown })
  }
  const agentCode = typeof code === 'number' ? code : undefined
  if (agentCode === undefined && typeof message !== 'string') return startFailure(thrown)
  const why = `The agent refused the handshake: ${asString(message) ?? String(code)}`
  return new AgentprotoError('handshake_failed', why, {
    cause: thrown,
    ...(agentCode === undefined ? {} : { data: { agentCode } }),
  })
}

/** An error answer as something that can be thrown. */
export const refused = ({ code, message }: Json): Error =>
  Object.assign(new Error(asString(message) ?? 'no message'), { code })

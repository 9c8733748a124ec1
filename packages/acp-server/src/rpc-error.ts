import { RequestError } from '@agentclientprotocol/sdk'
import { toAgentprotoError } from '@agentproto/contracts'

const INVALID_PARAMS = -32602
const INTERNAL = -32603

/** Maps an error to a JSON-RPC error with the problem document as its data. */
export function rpcErrorOf(thrown: unknown, sessionId?: string): RequestError {
  if (thrown instanceof RequestError) return thrown
  const error = toAgentprotoError(thrown)
  if (error.code === 'session_not_found' && sessionId !== undefined) {
    const { code, message } = RequestError.sessionNotFound(sessionId)
    return new RequestError(code, message, { sessionId, ...error.toProblem() })
  }
  return new RequestError(codeOf(error.code, error.row.mcp), error.message, error.toProblem())
}

function codeOf(code: string, kind: 'invalid-params' | 'tool-error'): number {
  if (code === 'auth_required') return RequestError.authRequired().code
  if (code === 'cancelled') return RequestError.requestCancelled().code
  return kind === 'invalid-params' ? INVALID_PARAMS : INTERNAL
}

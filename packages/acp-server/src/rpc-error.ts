import { RequestError } from '@agentclientprotocol/sdk'
import type { StopReason } from '@agentclientprotocol/sdk'
import { type AgentprotoError, defined, type SessionEvent, toAgentprotoError } from '@agentproto/contracts'
import { numberOf } from './numbered-events.js'
import type { TurnOutcome } from './own-turns.js'

/** Maps an error to a JSON-RPC error with the problem document as its data. */
export function rpcErrorOf(thrown: unknown, sessionId?: string): RequestError {
  if (thrown instanceof RequestError) return thrown
  const error = toAgentprotoError(thrown)
  if (error.code === 'session_not_found' && sessionId !== undefined) {
    const { code, message } = RequestError.sessionNotFound(sessionId)
    return new RequestError(code, message, { sessionId, ...error.toProblem() })
  }
  return new RequestError(kindOf(error).code, error.message, error.toProblem())
}

function kindOf({ code, row }: AgentprotoError): RequestError {
  if (code === 'auth_required') return RequestError.authRequired()
  if (code === 'cancelled') return RequestError.requestCancelled()
  return row.mcp === 'invalid-params' ? RequestError.invalidParams() : RequestError.internalError()
}

/** The stop reason of a turn. @throws the failure of the turn, with the agent's own code and message where it gave them */
export function stopReasonOf({ reason, error }: TurnOutcome): StopReason {
  if (reason !== 'error' && reason !== 'timeout') return reason
  const what = error?.message ?? (reason === 'timeout' ? 'The turn timed out' : 'The turn failed')
  const rpcCode = typeof error?.agentCode === 'number' ? error.agentCode : RequestError.internalError().code
  const failed = rpcCode === RequestError.authRequired().code ? 'auth_required' : 'prompt_failed'
  const code = reason === 'timeout' ? 'timeout' : failed
  throw new RequestError(rpcCode, what, { code, reason, ...defined({ cause: error?.data }) })
}

/** The end of a turn that no answer reports, with what its answer would have been. */
export function turnEnded(event: Pick<SessionEvent, 'sessionId' | 'seq' | 'turn'>, outcome: TurnOutcome): object {
  const ended = { sessionId: event.sessionId, turn: event.turn, _meta: numberOf(event) }
  try {
    return { ...ended, stopReason: stopReasonOf(outcome) }
  } catch (thrown) {
    return { ...ended, error: rpcErrorOf(thrown).toErrorResponse() }
  }
}

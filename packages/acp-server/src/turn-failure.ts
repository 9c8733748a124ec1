import { RequestError } from '@agentclientprotocol/sdk'
import type { StopReason } from '@agentclientprotocol/sdk'
import type { ErrorCode } from '@agentproto/contracts'
import type { TurnOutcome } from './own-turns.js'

/** The stop reason of a turn. @throws the failure of the turn, with the agent's own code and message where it gave them */
export function stopReasonOf({ reason, error }: TurnOutcome): StopReason {
  if (reason !== 'error' && reason !== 'timeout') return reason
  const what = error?.message ?? (reason === 'timeout' ? 'The turn timed out' : 'The turn failed')
  const rpcCode = typeof error?.agentCode === 'number' ? error.agentCode : RequestError.internalError().code
  const code = codeOf(reason, rpcCode)
  throw new RequestError(rpcCode, what, { code, reason, ...(error?.data === undefined ? {} : { cause: error.data }) })
}

function codeOf(reason: 'error' | 'timeout', rpcCode: number): ErrorCode {
  if (reason === 'timeout') return 'timeout'
  return rpcCode === RequestError.authRequired().code ? 'auth_required' : 'prompt_failed'
}

import { AgentprotoError } from '@agentproto/contracts'

/**
 * What a throw of `fetch` means. `refused`: nobody listens, nothing was sent. `dropped`: the connection
 * broke; the gateway may have carried the call out. Browsers do not tell the two apart: `dropped` there.
 */
export type ConnectionFault = 'refused' | 'dropped'

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
])

export function connectionFault(thrown: unknown): ConnectionFault {
  return codesOf(thrown).some((code) => NEVER_SENT.has(code)) ? 'refused' : 'dropped'
}

/** The error for a gateway that cannot be reached at all. */
export function unreachable(url: string, cause: unknown): AgentprotoError {
  return new AgentprotoError('daemon_not_running', `No gateway answers at ${url}`, {
    hint: 'Start one with: agentproto serve',
    cause,
  })
}

/** The error for a call of unknown outcome: sent, but the connection broke before the answer. */
export function outcomeUnknown(url: string, cause: unknown): AgentprotoError {
  return new AgentprotoError('internal', `The connection to ${url} broke before the answer came`, {
    hint: 'The call may have been carried out: look at the session before you repeat it',
    cause,
  })
}

export function cancelled(cause: unknown): AgentprotoError {
  return new AgentprotoError('cancelled', 'The call was cancelled by its caller', { cause })
}

function codesOf(thrown: unknown): string[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  const { code, cause, errors } = thrown as { code?: unknown; cause?: unknown; errors?: unknown }
  const nested = [cause, ...(Array.isArray(errors) ? errors : [])]
  return [...(typeof code === 'string' ? [code] : []), ...nested.flatMap(codesOf)]
}

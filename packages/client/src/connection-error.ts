import { AgentprotoError } from '@agentproto/contracts'

/**
 * What an error of `fetch` means. `refused`: nothing listens, nothing was sent. `dropped`: the connection broke, and the gateway
 * may have executed the call. Browsers do not distinguish the two: `dropped` there.
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
    hint: 'Start a gateway with: agentproto serve --detach',
    cause,
  })
}

/** The error for a call with an unknown outcome: the connection broke before the answer. */
export function outcomeUnknown(url: string, cause: unknown): AgentprotoError {
  return new AgentprotoError('internal', `The connection to ${url} broke before the answer arrived`, {
    hint: 'The gateway may have executed the call: check the session before you repeat it',
    cause,
  })
}

export function cancelled(cause: unknown): AgentprotoError {
  return new AgentprotoError('cancelled', 'The caller cancelled the call', { cause })
}

function codesOf(thrown: unknown): string[] {
  if (typeof thrown !== 'object' || thrown === null) return []
  const { code, cause, errors } = thrown as { code?: unknown; cause?: unknown; errors?: unknown }
  const nested = [cause, ...(Array.isArray(errors) ? errors : [])]
  return [...(typeof code === 'string' ? [code] : []), ...nested.flatMap(codesOf)]
}

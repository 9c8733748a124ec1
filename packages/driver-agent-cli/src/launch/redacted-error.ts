import { AgentprotoError } from '@agentproto/contracts'
import type { Redactor } from '@agentproto/secrets'

/** An error without secrets in its message and its parts; the cause stays inside the process. */
export function redactedError(error: AgentprotoError, redactor: Redactor | undefined): AgentprotoError {
  if (redactor === undefined) return error
  const { cause, ...parts } = error.parts
  const clean = new AgentprotoError(error.code, '', { ...redactor.redactData(parts), cause })
  clean.message = redactor.redact(error.message)
  return clean
}

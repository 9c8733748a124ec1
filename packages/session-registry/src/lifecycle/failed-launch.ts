import type { AgentprotoError, ErrorCode } from '@agentproto/contracts'

/** What is wrong with the request, though only the driver or the agent can find it. */
const WRONG_REQUEST: ReadonlySet<ErrorCode> = new Set(['mode_unknown', 'option_invalid'])

/** The error of a first start. A wrong request leaves no session; any other error names the session that has the record. */
export async function failedLaunch(
  error: AgentprotoError,
  { id, discard }: { readonly id: string; readonly discard: () => Promise<void> },
): Promise<AgentprotoError> {
  if (!WRONG_REQUEST.has(error.code)) return error.withData({ sessionId: id })
  await discard()
  return error
}

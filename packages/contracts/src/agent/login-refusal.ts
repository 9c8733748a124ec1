import type { ObservedAgent } from '../wire/agent-observation.js'

/** What an agent said when it opened no session without a login. Absent where it was not measured, or refused for another reason. */
export function loginRefusal(observed: ObservedAgent | undefined): string | undefined {
  if (observed === undefined || 'failed' in observed || observed.session === 'opened') return undefined
  const { code, message } = observed.session.refused
  return code === 'auth_required' ? message : undefined
}

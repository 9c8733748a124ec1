import type { AgentprotoError } from '@agentproto/contracts'

const EXPLAINED = new WeakSet<AgentprotoError>()

/** Marks an error that already names the step that works. @returns it */
export function explained(error: AgentprotoError): AgentprotoError {
  EXPLAINED.add(error)
  return error
}

export const isExplained = (error: AgentprotoError): boolean => EXPLAINED.has(error)

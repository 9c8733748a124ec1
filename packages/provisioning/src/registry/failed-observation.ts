import type { AgentprotoError } from '@agentproto/contracts'
import type { FailedObservation } from '@agentproto/contracts/agent'

const MESSAGE_CHARS = 200

/** Why nothing could be measured, as a manifest has it: one line without control characters. */
export function failedObservation({ code, message }: AgentprotoError, now: number): FailedObservation {
  const line = message.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, ' ').trim()
  const letters = Array.from(line)
  const text = letters.length <= MESSAGE_CHARS ? line : `${letters.slice(0, MESSAGE_CHARS - 1).join('')}…`
  return { at: new Date(now).toISOString(), failed: { code, message: text } }
}

import {
  asNumber,
  asRecord,
  asString,
  defined,
  isRecord,
  type Json,
  type StreamError,
  type TokenUsage,
  TURN_END_REASONS,
  type TurnEndReason,
} from '@agentproto/contracts'
import type { Verdict } from '@agentproto/arm-kit'

/** Stop reasons of ACP; they are AIP-45's names. */
const STOP_REASONS: ReadonlySet<unknown> = new Set(
  TURN_END_REASONS.filter((reason) => reason !== 'error' && reason !== 'timeout'),
)

/** Reads the response to `session/prompt`: an unknown stop reason is an error, never a success. */
export function responseVerdict({ result, error }: Json): Verdict {
  if (isRecord(error)) return { reason: 'error', error: agentError(error) }
  const { stopReason, usage } = asRecord(result)
  const reported = isRecord(usage) ? { usage: usageOf(usage) } : {}
  if (STOP_REASONS.has(stopReason)) return { ...reported, reason: stopReason as TurnEndReason }
  const message = `The agent stopped for a reason that is not in the protocol: ${JSON.stringify(stopReason) ?? 'none'}`
  return { ...reported, reason: 'error', error: { message } }
}

function agentError({ code, message, data }: Json): Omit<StreamError, 'type'> {
  const agentCode = asNumber(code) ?? asString(code)
  return { message: asString(message) ?? 'The agent failed the prompt', ...defined({ agentCode, data }) }
}

function usageOf(usage: Json): TokenUsage {
  return defined({
    inputTokens: asNumber(usage['inputTokens']),
    outputTokens: asNumber(usage['outputTokens']),
    totalTokens: asNumber(usage['totalTokens']),
    cachedReadTokens: asNumber(usage['cachedReadTokens']),
    cachedWriteTokens: asNumber(usage['cachedWriteTokens']),
    thoughtTokens: asNumber(usage['thoughtTokens']),
  })
}

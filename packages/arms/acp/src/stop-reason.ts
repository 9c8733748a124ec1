import { TURN_END_REASONS } from '@agentproto/contracts'
import type { StreamError, TokenUsage, TurnEndReason } from '@agentproto/contracts'
import { defined, isRecord, number, record, text } from '@agentproto/arm-kit'
import type { Json, Verdict } from '@agentproto/arm-kit'

/** Stop reasons of ACP; they are AIP-45's names. */
const STOP_REASONS: ReadonlySet<unknown> = new Set(
  TURN_END_REASONS.filter((reason) => reason !== 'error' && reason !== 'timeout'),
)

/** Reads the response to `session/prompt`: an unknown stop reason is an error, never a success. */
export function responseVerdict({ result, error }: Json): Verdict {
  if (isRecord(error)) return { reason: 'error', error: agentError(error) }
  const { stopReason, usage } = record(result)
  const told = isRecord(usage) ? { usage: usageOf(usage) } : {}
  if (STOP_REASONS.has(stopReason)) return { ...told, reason: stopReason as TurnEndReason }
  const message = `The agent stopped for a reason that is not in the protocol: ${JSON.stringify(stopReason) ?? 'none'}`
  return { ...told, reason: 'error', error: { message } }
}

function agentError({ code, message, data }: Json): Omit<StreamError, 'type'> {
  const agentCode = number(code) ?? text(code)
  return { message: text(message) ?? 'The agent failed the prompt', ...defined({ agentCode, data }) }
}

function usageOf(usage: Json): TokenUsage {
  return defined({
    inputTokens: number(usage['inputTokens']),
    outputTokens: number(usage['outputTokens']),
    totalTokens: number(usage['totalTokens']),
    cachedReadTokens: number(usage['cachedReadTokens']),
    cachedWriteTokens: number(usage['cachedWriteTokens']),
    thoughtTokens: number(usage['thoughtTokens']),
  })
}

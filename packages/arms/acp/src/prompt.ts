import { promptError, type Verdict } from '@agentproto/arm-kit'
import {
  type AgentCapabilities,
  asNumber,
  asRecord,
  type ContentBlock,
  defined,
  isRecord,
  type Json,
  type TokenUsage,
  TURN_END_REASONS,
  type TurnEndReason,
} from '@agentproto/contracts'
import { usageInMeta, type UsagePlaces } from './usage-in-meta.js'

/**
 * Adapts a prompt to the agent's capabilities: embedded text becomes text, an embedded file becomes a link. Images and
 * sounds cannot be replaced.
 * @returns the blocks, or why the prompt is refused
 */
export function promptFor(
  prompt: readonly ContentBlock[],
  capabilities: AgentCapabilities,
): { readonly blocks: readonly ContentBlock[] } | { readonly refused: string } {
  for (const { type } of prompt) {
    if ((type === 'image' || type === 'audio') && !capabilities[type])
      return { refused: `The agent takes no ${type} in a prompt` }
  }
  return { blocks: capabilities.embeddedContext ? prompt : prompt.map(withoutEmbedding) }
}

function withoutEmbedding(block: ContentBlock): ContentBlock {
  if (block.type !== 'resource') return block
  const { uri, text, mimeType } = block.resource
  if (text === undefined) return { type: 'resource_link', uri, name: uri, mimeType }
  return { type: 'text', text: `<resource uri=${JSON.stringify(uri)}>\n${text}\n</resource>` }
}

/** Stop reasons of ACP; they are AIP-45's names. */
const STOP_REASONS: ReadonlySet<unknown> = new Set(
  TURN_END_REASONS.filter((reason) => reason !== 'error' && reason !== 'timeout'),
)

/**
 * Reads the response to `session/prompt`: an unknown stop reason is an error, never a success.
 * @param places where the agent says its tokens if not in `usage`
 */
export function responseVerdict({ result, error }: Json, places: UsagePlaces | undefined): Verdict {
  if (isRecord(error)) return { reason: 'error', error: promptError(error) }
  const { stopReason, usage } = asRecord(result)
  const reported = defined({
    usage: isRecord(usage) ? usageOf(usage) : places && usageInMeta(asRecord(result), places),
  })
  if (STOP_REASONS.has(stopReason)) return { ...reported, reason: stopReason as TurnEndReason }
  const said = typeof stopReason === 'string' ? JSON.stringify(stopReason) : typeof stopReason
  const message = `The agent stopped for a reason that is not in the protocol: ${stopReason === undefined ? 'none' : said}`
  return { ...reported, reason: 'error', error: { message } }
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

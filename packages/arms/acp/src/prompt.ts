import type { AgentCapabilities, ContentBlock } from '@agentproto/contracts'

/**
 * A prompt as this agent takes it: embedded text that it cannot take becomes text, an embedded file a
 * link. An image or a sound has no such stand-in.
 * @returns the blocks, or what the agent cannot take
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

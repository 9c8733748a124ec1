import type { AgentCapabilities, ContentBlock } from '@agentproto/contracts'

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

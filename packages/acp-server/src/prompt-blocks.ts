import { asString, type ContentBlock, defined } from '@agentproto/contracts'
import type { ContentBlock as AcpContentBlock } from '@agentclientprotocol/sdk'

/** A client's prompt as content blocks, without the client's annotations and metadata. */
export function promptBlocks(prompt: readonly AcpContentBlock[]): ContentBlock[] {
  return prompt.map(blockOf)
}

function blockOf(block: AcpContentBlock): ContentBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
      return { type: 'image', data: block.data, mimeType: block.mimeType, ...defined({ uri: asString(block.uri) }) }
    case 'audio':
      return { type: 'audio', data: block.data, mimeType: block.mimeType }
    case 'resource_link': {
      const { uri, name, mimeType, title, description, size } = block
      const more = { mimeType: asString(mimeType), title: asString(title), description: asString(description) }
      return { type: 'resource_link', uri, name, ...defined({ ...more, size: size ?? undefined }) }
    }
    case 'resource': {
      const { uri, mimeType } = block.resource
      const content = 'text' in block.resource ? { text: block.resource.text } : { blob: block.resource.blob }
      return { type: 'resource', resource: { uri, ...content, ...defined({ mimeType: asString(mimeType) }) } }
    }
  }
}

import type { ContentBlock } from './wire/content-block.js'

/** What a tool call shows: content, a change to a file, or a terminal. */
export type ToolContent =
  | { readonly type: 'content'; readonly content: ContentBlock }
  | { readonly type: 'diff'; readonly path: string; readonly oldText?: string | null; readonly newText: string }
  | { readonly type: 'terminal'; readonly terminalId: string }

export interface ToolLocation {
  readonly path: string
  readonly line?: number | null
}

/** What a tool does; `other` for anything a vendor adds. */
export const TOOL_KINDS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
] as const
export type ToolKind = (typeof TOOL_KINDS)[number]

/** The text of a prompt, with a short placeholder for content that is not text. */
export function promptText(content: readonly ContentBlock[]): string {
  return content.map(blockText).join('\n')
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'image':
    case 'audio':
      return `[${block.type} ${block.mimeType}]`
    case 'resource_link':
      return `[${block.name}](${block.uri})`
    case 'resource':
      return block.resource.text ?? `[resource ${block.resource.uri}]`
  }
}

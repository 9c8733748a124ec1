/** Content of prompts and of tool calls. The shapes are ACP's, which MCP shares. */

export interface TextContent {
  readonly type: 'text'
  readonly text: string
}
export interface ImageContent {
  readonly type: 'image'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
  readonly uri?: string | undefined
}
export interface AudioContent {
  readonly type: 'audio'
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}
export interface ResourceLinkContent {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly mimeType?: string | undefined
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly size?: number | undefined
}
export interface ResourceContent {
  readonly type: 'resource'
  readonly resource: {
    readonly uri: string
    readonly mimeType?: string | undefined
    /** Either text ... */
    readonly text?: string | undefined
    /** ... or base64. */
    readonly blob?: string | undefined
  }
}
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLinkContent | ResourceContent

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

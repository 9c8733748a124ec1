import type { ToolContent, ToolKind, ToolLocation } from './content.js'

/** What an agent does with a tool, told in steps that a reader merges by `toolCallId`. */

/** An upsert by `toolCallId`: what is absent is unchanged. */
export interface ToolCall {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName?: string
  readonly title?: string
  readonly kind?: ToolKind
  readonly status?: 'pending' | 'in_progress'
  readonly locations?: readonly ToolLocation[]
  readonly content?: readonly ToolContent[]
  readonly input?: unknown
  readonly output?: unknown
}

/** The last word on a tool call. `interrupted` is set by the host where the agent never said. */
export interface ToolResult {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly status: 'completed' | 'failed' | 'interrupted'
  readonly toolName?: string
  readonly title?: string
  readonly kind?: ToolKind
  readonly locations?: readonly ToolLocation[]
  readonly content?: readonly ToolContent[]
  readonly input?: unknown
  readonly output?: unknown
}

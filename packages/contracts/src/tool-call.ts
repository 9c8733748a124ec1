import type { ToolContent, ToolKind, ToolLocation } from './content.js'

/** What an agent does with a tool, in steps that a reader merges by `toolCallId`. */

/** An upsert by `toolCallId`: absent members are unchanged. */
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

/** The end of a tool call. The host sets `interrupted` if the agent reported no end. */
export interface ToolResult extends Omit<ToolCall, 'type' | 'status'> {
  readonly type: 'tool-result'
  readonly status: 'completed' | 'failed' | 'interrupted'
}

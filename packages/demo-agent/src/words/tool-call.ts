import type { ToolCall, ToolCallContent } from '@agentclientprotocol/sdk'
import { errorText } from '../error-text.js'
import type { Turn } from '../turn.js'

/** What the client is shown of a tool before it has done anything. */
export interface ToolStart {
  readonly title: string
  readonly kind: 'read' | 'edit' | 'execute' | 'other'
  readonly input: Readonly<Record<string, unknown>>
  readonly path?: string
}

/** What a tool has done. */
export interface ToolOutcome {
  readonly content: ToolCallContent[]
  readonly output?: Readonly<Record<string, unknown>>
  readonly failed?: boolean
}

/** Announces a tool call, does the work, and reports its outcome; a work that throws is a failed one. */
export async function callTool(turn: Turn, start: ToolStart, work: () => Promise<ToolOutcome>): Promise<boolean> {
  const toolCallId = announceTool(turn, start)
  return finishTool(turn, { ...start, toolCallId }, work)
}

/** @returns the id of the new tool call, which is pending */
export function announceTool(turn: Turn, start: ToolStart): string {
  const toolCallId = turn.nextToolCallId()
  turn.update({ sessionUpdate: 'tool_call', ...pendingCall(start, toolCallId) })
  return toolCallId
}

export function pendingCall({ title, kind, input, path }: ToolStart, toolCallId: string): ToolCall {
  const locations = path === undefined ? [] : [{ path }]
  return { toolCallId, title, kind, status: 'pending', locations, rawInput: input }
}

type AnnouncedTool = ToolStart & { readonly toolCallId: string }

/** @returns whether it succeeded */
export async function finishTool(
  turn: Turn,
  { toolCallId, title, kind }: AnnouncedTool,
  work: () => Promise<ToolOutcome>,
): Promise<boolean> {
  turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
  const { content, output, failed = false } = await work().catch(failure)
  turn.update({
    sessionUpdate: 'tool_call_update',
    toolCallId,
    status: failed ? 'failed' : 'completed',
    content,
    ...(output && { rawOutput: output }),
  })
  turn.remember({ kind: 'tool', toolCallId, title, toolKind: kind, failed })
  return !failed
}

function failure(error: unknown): ToolOutcome {
  const message = errorText(error)
  return { content: [textContent(message)], output: { error: message }, failed: true }
}

export const textContent = (text: string): ToolCallContent => ({ type: 'content', content: { type: 'text', text } })

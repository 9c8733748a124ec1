import type { AgentRequest, ToolCall, ToolResult } from '@agentproto/contracts'
import { oneLine } from './printable.js'

/** What an agent asks, on one line. */
export function requestTitle(request: AgentRequest): string {
  return request.kind === 'permission' ? toolTitle(request.toolCall) : oneLine(request.message)
}

/** A tool call's name for people: its title, else what is known of it. */
export const toolTitle = ({ title, toolName, kind, toolCallId }: ToolCall | ToolResult): string =>
  oneLine(title || toolName || kind || toolCallId)

/** What the tool is about to do, where the title does not say it: the command, or the path. */
export function toolSubject(call: ToolCall): string | undefined {
  const input = typeof call.input === 'object' && call.input !== null ? (call.input as Record<string, unknown>) : {}
  const subject = input['command'] ?? input['cmd'] ?? input['path'] ?? input['file_path'] ?? input['filePath'] ?? call.locations?.[0]?.path
  const text = Array.isArray(subject) ? subject.join(' ') : subject
  if (typeof text !== 'string' || text === '') return undefined
  return toolTitle(call).includes(oneLine(text)) ? undefined : oneLine(text)
}

import type { AgentRequest, ToolCall, ToolResult } from '@agentproto/contracts'
import { oneLine } from './printable.js'

/** A request of an agent on one line. */
export function requestTitle(request: AgentRequest): string {
  return request.kind === 'permission' ? toolTitle(request.toolCall) : oneLine(request.message)
}

/** The name of a tool call: its title, else the best alternative. */
export const toolTitle = ({ title, toolName, kind, toolCallId }: ToolCall | ToolResult): string =>
  oneLine(title || toolName || kind || toolCallId)

/** The input fields that name what a tool works on, the most specific first. */
const SUBJECTS = ['command', 'cmd', 'path', 'file_path', 'filePath']

/** The command or path of a tool call, unless its title contains it. */
export function toolSubject(call: ToolCall): string | undefined {
  const subject = subjectIn(call.input) ?? call.locations?.[0]?.path
  if (subject === undefined || subject === '') return undefined
  const line = oneLine(subject)
  return toolTitle(call).includes(line) ? undefined : line
}

function subjectIn(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null) return undefined
  const given = input as Readonly<Record<string, unknown>>
  const subject = SUBJECTS.map((name) => given[name]).find((value) => value !== undefined)
  if (Array.isArray(subject)) return subject.join(' ')
  return typeof subject === 'string' ? subject : undefined
}

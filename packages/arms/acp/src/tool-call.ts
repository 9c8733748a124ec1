import {
  asNumber,
  asRecord,
  asString,
  defined,
  type Json,
  TOOL_KINDS,
  type ToolContent,
  type ToolKind,
  type ToolLocation,
} from '@agentproto/contracts'
import { isContentBlock, TOOL_STATUSES, type ToolUpdate } from '@agentproto/arm-kit'
import { AGENT_BOUNDS } from './agent-bounds.js'

/** Reads `tool_call`, `tool_call_update` and a permission's `toolCall`; undefined without an id, or with one that is too long. */
export function parseToolUpdate(update: Json): ToolUpdate | undefined {
  const toolCallId = asString(update['toolCallId'])
  if (toolCallId === undefined || toolCallId.length > AGENT_BOUNDS.callIdChars) return undefined
  return {
    toolCallId,
    ...defined({
      status: TOOL_STATUSES.find((each) => each === update['status']),
      toolName: asString(update['name']),
      title: asString(update['title']),
      kind: kindOf(update['kind']),
      locations: locationsOf(update['locations']),
      content: Array.isArray(update['content']) ? update['content'].map(contentOf) : undefined,
      input: update['rawInput'] ?? undefined,
      output: update['rawOutput'] ?? undefined,
    }),
  }
}

const kindOf = (value: unknown): ToolKind | undefined =>
  typeof value === 'string' ? (TOOL_KINDS.find((each) => each === value) ?? 'other') : undefined

function locationsOf(value: unknown): readonly ToolLocation[] | undefined {
  if (!Array.isArray(value)) return undefined
  return value.flatMap((entry) => {
    const { path, line } = asRecord(entry)
    return typeof path === 'string' ? [{ path, ...defined({ line: asNumber(line) }) }] : []
  })
}

/** Content of an unknown shape is shown as JSON, never dropped. */
function contentOf(item: unknown): ToolContent {
  const { type, content, path, oldText, newText, terminalId } = asRecord(item)
  if (type === 'content' && isContentBlock(content)) return { type, content }
  if (type === 'terminal' && typeof terminalId === 'string') return { type, terminalId }
  if (type === 'diff' && typeof path === 'string' && typeof newText === 'string') {
    return { type, path, newText, ...(typeof oldText === 'string' ? { oldText } : {}) }
  }
  return { type: 'content', content: { type: 'text', text: JSON.stringify(item) ?? '' } }
}

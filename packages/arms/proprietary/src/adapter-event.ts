import {
  type AgentNotice,
  type AgentPrompt,
  type AgentRequest,
  asRecord,
  asString,
  defined,
  isRecord,
  type Json,
  type ToolCall,
  type ToolResult,
  TURN_END_REASONS,
  type TurnEnd,
} from '@agentproto/contracts'
import type { AgentCliEvent } from '@agentproto/contracts/agent'

const NOTICES: ReadonlySet<unknown> = new Set<AgentNotice['type']>([
  'plan',
  'usage',
  'config',
  'title',
  'output',
  'notice',
  'extension',
])

/** Checks an event of an adapter, of which nothing is believed before; what is not one is kept as an extension. */
export function readEvent(value: unknown): AgentCliEvent {
  const event = asRecord(value)
  return known(event) ?? { type: 'extension', kind: asString(event['type']) ?? 'unknown', payload: value }
}

function known(event: Json): AgentCliEvent | undefined {
  switch (event['type']) {
    case 'text-delta':
    case 'thought': {
      const text = asString(event['text'])
      const messageId = asString(event['messageId'])
      return text === undefined ? undefined : { type: event['type'], text, ...defined({ messageId }) }
    }
    case 'tool-call':
      return typeof event['toolCallId'] === 'string' ? toolCall(event) : undefined
    case 'tool-result':
      return typeof event['toolCallId'] === 'string' ? toolResult(event) : undefined
    case 'agent-prompt':
      return prompt(event)
    case 'error':
      return { ...event, type: 'error', message: asString(event['message']) ?? 'The adapter reports an error' }
    case 'turn-end':
      return turnEnd(event)
    default:
      return NOTICES.has(event['type']) ? notice(event) : undefined
  }
}

/** How requests are answered is the host's to say, in an event of the same type. */
function notice({ permissionMode: _, ...event }: Json): AgentNotice {
  return event as unknown as AgentNotice
}

function toolCall({ status, ...call }: Json): ToolCall {
  const open = status === 'pending' || status === 'in_progress' ? { status } : {}
  return { ...call, ...open } as unknown as ToolCall
}

/** An unknown status is a failure, never a success. */
const toolResult = (event: Json): ToolResult =>
  ({ ...event, status: event['status'] === 'completed' ? 'completed' : 'failed' }) as unknown as ToolResult

/** An unknown reason is an error, never a success. */
function turnEnd({ reason, usage }: Json): TurnEnd {
  const stated = TURN_END_REASONS.find((each) => each === reason) ?? 'error'
  return { type: 'turn-end', reason: stated, ...(isRecord(usage) ? { usage } : {}) }
}

function prompt({ requestId, request }: Json): AgentPrompt | undefined {
  return typeof requestId === 'string' && isRequest(request) ? { type: 'agent-prompt', requestId, request } : undefined
}

function isRequest(value: unknown): value is AgentRequest {
  if (!isRecord(value)) return false
  return (
    (value['kind'] === 'permission' && Array.isArray(value['options']) && isRecord(value['toolCall'])) ||
    value['kind'] === 'question'
  )
}

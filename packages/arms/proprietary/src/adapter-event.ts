import type { ToolUpdate } from '@agentproto/arm-kit'
import {
  type AgentNotice,
  type AgentRequest,
  asRecord,
  asString,
  defined,
  isRecord,
  type Json,
  type StreamError,
  TURN_END_REASONS,
  type TurnEnd,
} from '@agentproto/contracts'

/** What an adapter emitted, once it was looked at: nothing about it is believed before. */
export type AdapterEvent =
  | { readonly is: 'said'; readonly type: 'text-delta' | 'thought'; readonly text: string; readonly messageId?: string }
  | { readonly is: 'tool'; readonly update: ToolUpdate }
  | { readonly is: 'asked'; readonly requestId: string; readonly request: AgentRequest }
  | { readonly is: 'error'; readonly error: Omit<StreamError, 'type'> }
  | { readonly is: 'turn-end'; readonly end: TurnEnd }
  | { readonly is: 'notice'; readonly notice: AgentNotice }

const NOTICES: ReadonlySet<unknown> = new Set<AgentNotice['type']>([
  'plan',
  'usage',
  'config',
  'title',
  'output',
  'notice',
  'extension',
])
const REASONS: ReadonlySet<unknown> = new Set(TURN_END_REASONS)

/** Reads an event of an adapter; what it is not is kept as an extension. */
export function readEvent(value: unknown): AdapterEvent {
  const event = asRecord(value)
  return (
    known(event) ?? {
      is: 'notice',
      notice: { type: 'extension', kind: asString(event['type']) ?? 'unknown', payload: value },
    }
  )
}

function known(event: Json): AdapterEvent | undefined {
  switch (event['type']) {
    case 'text-delta':
    case 'thought': {
      const said = asString(event['text'])
      return said === undefined
        ? undefined
        : { is: 'said', type: event['type'], text: said, ...defined({ messageId: asString(event['messageId']) }) }
    }
    case 'tool-call':
    case 'tool-result':
      return tool(event, event['type'])
    case 'agent-prompt': {
      const requestId = asString(event['requestId'])
      return requestId !== undefined && isRequest(event['request'])
        ? { is: 'asked', requestId, request: event['request'] }
        : undefined
    }
    case 'error': {
      const { type: _, ...error } = event
      return { is: 'error', error: { ...error, message: asString(event['message']) ?? 'The adapter reports an error' } }
    }
    case 'turn-end':
      return { is: 'turn-end', end: turnEnd(event) }
    default:
      return NOTICES.has(event['type']) ? { is: 'notice', notice: notice(event) } : undefined
  }
}

/** How requests are answered is the host's to say, in an event of the same type. */
function notice({ permissionMode: _, ...event }: Json): AgentNotice {
  return event as unknown as AgentNotice
}

function tool(event: Json, type: 'tool-call' | 'tool-result'): AdapterEvent | undefined {
  const toolCallId = asString(event['toolCallId'])
  if (toolCallId === undefined) return undefined
  const { type: _, status, ...rest } = event
  const call = type === 'tool-call'
  const ended = status === 'completed' ? ('completed' as const) : ('failed' as const)
  const open = status === 'pending' || status === 'in_progress' ? { status } : {}
  return {
    is: 'tool',
    update: { ...(rest as Omit<ToolUpdate, 'status'>), toolCallId, ...(call ? open : { status: ended }) } as ToolUpdate,
  }
}

/** An unknown reason is an error, never a success. */
function turnEnd(event: Json): TurnEnd {
  const { reason, usage } = event
  const stated = REASONS.has(reason) ? (reason as TurnEnd['reason']) : 'error'
  return { type: 'turn-end', reason: stated, ...(isRecord(usage) ? { usage } : {}) }
}

function isRequest(value: unknown): value is AgentRequest {
  if (!isRecord(value)) return false
  return (
    (value['kind'] === 'permission' && Array.isArray(value['options']) && isRecord(value['toolCall'])) ||
    value['kind'] === 'question'
  )
}

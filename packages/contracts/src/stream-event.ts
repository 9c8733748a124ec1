import type { AgentRequest, RequestFacts } from './agent-request.js'
import { isRecord } from './json.js'
import { isRequest, isTool, type PayloadCheck, texts } from './payload-check.js'
import type { ToolCall, ToolResult } from './tool-call.js'

/** AIP-45's closed taxonomy: all that an arm emits about a turn. Notices about the session are in `notice.ts`. */

export interface TextDelta {
  readonly type: 'text-delta'
  readonly text: string
  readonly messageId?: string
}
export interface Thought {
  readonly type: 'thought'
  readonly text: string
  readonly messageId?: string
}

/** The agent waits for an answer to a request (see {@link AgentRequest}). */
export interface AgentPrompt {
  readonly type: 'agent-prompt'
  readonly requestId: string
  readonly request: AgentRequest
  /** Of a permission request that a person decides; the gateway sets it. */
  readonly facts?: RequestFacts
}

export const TURN_END_REASONS = [
  'end_turn',
  'max_tokens',
  'max_turn_requests',
  'refusal',
  'cancelled',
  'error',
  'timeout',
] as const
export type TurnEndReason = (typeof TURN_END_REASONS)[number]

/** Exactly one per turn, and its last event. */
export interface TurnEnd {
  readonly type: 'turn-end'
  readonly reason: TurnEndReason
  /** The turn produced no text, no thought and no tool call. */
  readonly empty?: boolean
  readonly usage?: TokenUsage
}

/** Of these a turn may report how many it used. */
export const TOKEN_KINDS = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cachedReadTokens',
  'cachedWriteTokens',
  'thoughtTokens',
] as const
export type TokenUsage = { readonly [Kind in (typeof TOKEN_KINDS)[number]]?: number }

/** Out-of-band error during a turn; a `turn-end` follows it. */
export interface StreamError {
  readonly type: 'error'
  readonly message: string
  /** The agent's own error code. */
  readonly agentCode?: number | string
  /** The last lines of stderr, if the process caused it. */
  readonly stderrTail?: string
  readonly data?: unknown
}

export type StreamEvent = TextDelta | Thought | ToolCall | ToolResult | AgentPrompt | TurnEnd | StreamError
export type StreamEventType = StreamEvent['type']

/** Every type has a check, so that a new one cannot be read unchecked. */
export const STREAM_EVENT_CHECKS: Readonly<Record<StreamEventType, PayloadCheck>> = {
  'text-delta': texts('text'),
  thought: texts('text'),
  'tool-call': isTool,
  'tool-result': (payload) => isTool(payload) && typeof payload['status'] === 'string',
  'agent-prompt': ({ requestId, request }) => typeof requestId === 'string' && isRecord(request) && isRequest(request),
  'turn-end': texts('reason'),
  error: texts('message'),
}
export const STREAM_EVENT_TYPES = Object.keys(STREAM_EVENT_CHECKS) as readonly StreamEventType[]

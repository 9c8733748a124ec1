import type { ToolCall } from './stream-event.js'

/**
 * What an agent asks of its user in the middle of a turn: a permission or a question (elicitation).
 * Requests are durable: listed, answered once, cancelled with their turn.
 */

export type PermissionOptionKind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always'

export interface PermissionOption {
  readonly optionId: string
  readonly name: string
  readonly kind: PermissionOptionKind
}

export interface PermissionRequest {
  readonly kind: 'permission'
  /** The tool call that waits; its `toolCallId` may be new to the turn. */
  readonly toolCall: ToolCall
  readonly options: readonly PermissionOption[]
}

export interface QuestionRequest {
  readonly kind: 'question'
  readonly message: string
  /** `form`: JSON Schema of the answer's content. `url`: the person is to visit it. */
  readonly mode: 'form' | 'url'
  readonly schema?: unknown
  readonly url?: string
  readonly toolCallId?: string
}

export type AgentRequest = PermissionRequest | QuestionRequest

/** What the agent is told. */
export type AgentAnswer =
  | { readonly outcome: 'selected'; readonly optionId: string }
  | { readonly outcome: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'decline' }
  | { readonly outcome: 'cancelled' }

/** Who or what gave an answer: a principal's name, a rule, or the clock. */
export type AnsweredBy =
  | { readonly type: 'principal'; readonly name: string }
  | { readonly type: 'policy'; readonly rule: string }
  | { readonly type: 'timeout' }
  | { readonly type: 'turn-end' }
  | { readonly type: 'session-end' }

/** A request as a resource of its session. */
export interface SessionRequest {
  readonly requestId: string
  readonly sessionId: string
  readonly turn: number
  readonly request: AgentRequest
  readonly state: 'pending' | 'resolved'
  readonly createdAt: string
  readonly resolvedAt?: string
  readonly answer?: AgentAnswer
  readonly answeredBy?: AnsweredBy
}

/** Whether a request is answered without a person. */
export type PermissionMode = 'ask' | 'approve-reads' | 'approve-all' | 'deny-all'
export const PERMISSION_MODES: readonly PermissionMode[] = ['ask', 'approve-reads', 'approve-all', 'deny-all']

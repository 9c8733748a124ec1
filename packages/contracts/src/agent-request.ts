import type { RuleLifetime } from './permission-rule.js'
import type { ToolCall } from './tool-call.js'

/**
 * What an agent asks of its user in the middle of a turn: a permission or a question (elicitation).
 * Requests are durable: listed, answered once, cancelled with their turn.
 */

export const PERMISSION_OPTION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const
export type PermissionOptionKind = (typeof PERMISSION_OPTION_KINDS)[number]

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

/** What the agent is told. `reason`: why, where no person decided; protocols that have a place for it carry it. */
export type AgentAnswer =
  | {
      readonly outcome: 'selected'
      readonly optionId: string
      /** A person's word that the answer holds for later calls like this one too; it makes a rule. */
      readonly remember?: RuleLifetime
      readonly reason?: string
    }
  | { readonly outcome: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'decline'; readonly reason?: string }
  | { readonly outcome: 'cancelled'; readonly reason?: string }

/**
 * Who or what gave an answer: a principal's name, a permission mode or the id of a rule, the clock, or the end of
 * what the request was a part of. `gateway-end`: nobody decided, because the gateway ended while it waited.
 */
export type AnsweredBy =
  | { readonly type: 'principal'; readonly name: string }
  | { readonly type: 'policy'; readonly rule: string }
  | { readonly type: 'timeout' }
  | { readonly type: 'turn-end' }
  | { readonly type: 'session-end' }
  | { readonly type: 'gateway-end' }

/** A request as a resource of its session. */
export interface SessionRequest {
  readonly requestId: string
  readonly sessionId: string
  readonly turn: number
  readonly request: AgentRequest
  /**
   * `interrupted`: the gateway ended while it waited, so its agent is not there to be told. A person may still decide
   * for the next time that the agent asks the same (`remember`).
   */
  readonly state: RequestState
  readonly createdAt: string
  readonly resolvedAt?: string
  readonly answer?: AgentAnswer
  readonly answeredBy?: AnsweredBy
}

export const REQUEST_STATES = ['pending', 'resolved', 'interrupted'] as const
export type RequestState = (typeof REQUEST_STATES)[number]

/** Whether a request is answered without a person. */
export const PERMISSION_MODES = ['ask', 'approve-reads', 'approve-all', 'deny-all'] as const
export type PermissionMode = (typeof PERMISSION_MODES)[number]

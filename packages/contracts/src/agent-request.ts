import type { RuleLifetime } from './permission-rule.js'
import type { ToolCall } from './tool-call.js'

/** What an agent asks during a turn: a permission or a question. Durable, answered once, cancelled with its turn. */

export const PERMISSION_OPTION_KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const
export type PermissionOptionKind = (typeof PERMISSION_OPTION_KINDS)[number]

export interface PermissionOption {
  readonly optionId: string
  readonly name: string
  readonly kind: PermissionOptionKind
}

export interface PermissionRequest {
  readonly kind: 'permission'
  /** The tool call that is blocked; its `toolCallId` may be new in the turn. */
  readonly toolCall: ToolCall
  readonly options: readonly PermissionOption[]
}

export interface QuestionRequest {
  readonly kind: 'question'
  readonly message: string
  /** `form`: `schema` describes the answer's content. `url`: the user has to open `url`. */
  readonly mode: 'form' | 'url'
  readonly schema?: unknown
  readonly url?: string
  readonly toolCallId?: string
}

export type AgentRequest = PermissionRequest | QuestionRequest

/** The answer that the agent receives. `reason`: why, if no person decided; sent where the protocol supports it. */
export type AgentAnswer =
  | {
      readonly outcome: 'selected'
      readonly optionId: string
      /** It becomes a rule: to allow the same call again, or to deny its command or path. */
      readonly remember?: RuleLifetime
      readonly reason?: string
    }
  | { readonly outcome: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly outcome: 'decline'; readonly reason?: string }
  | { readonly outcome: 'cancelled'; readonly reason?: string }

/**
 * Who or what answered: a principal, a permission mode or a rule by its id, the timeout, or the end of the turn or session.
 * `gateway-end`: the gateway ended while the request was pending.
 */
export type AnsweredBy =
  | { readonly type: 'principal'; readonly name: string }
  | { readonly type: 'policy'; readonly rule: string }
  | { readonly type: 'timeout' }
  | { readonly type: 'turn-end' }
  | { readonly type: 'session-end' }
  | { readonly type: 'gateway-end' }

export const REQUEST_STATES = ['pending', 'resolved', 'interrupted'] as const

/** Which requests are answered without a person. */
export const PERMISSION_MODES = ['ask', 'approve-reads', 'approve-all', 'deny-all'] as const
export type PermissionMode = (typeof PERMISSION_MODES)[number]

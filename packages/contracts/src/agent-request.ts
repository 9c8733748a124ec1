import type { ToolKind } from './content.js'
import type { RuleLifetime } from './permission-rule.js'
import type { ToolCall } from './tool-call.js'
import type { RuleMatch } from './wire/rule-match.js'

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

/** A file or folder that a tool call names, and where it leads. */
export interface RequestPath {
  /** As the agent wrote it. */
  readonly named: string
  /** Absolute, with links followed at the moment of the request; two where programs differ. Empty: it cannot be resolved. */
  readonly real: readonly string[]
  /** All of `real` is inside the session's folders. */
  readonly inside: boolean
}

/** A variable that a tool call sets for what it runs. */
export interface RequestVariable {
  readonly name: string
  readonly value: string
}

/**
 * What the gateway itself found out about a permission request, for the person who decides: read from the input, the
 * locations and the differences of the call, never from its title. Absent for what a rule or a mode answers at once.
 */
export interface RequestFacts {
  /** By its input: with a command it is `execute`, with a difference `edit`, whatever the agent states. */
  readonly toolKind?: ToolKind
  /** As the agent states it. */
  readonly statedKind?: ToolKind
  /** Command lines, whole. */
  readonly commands: readonly string[]
  /** Folders that its commands run in; none: the session's own. */
  readonly folders: readonly RequestPath[]
  /** Variables that it sets for its commands, as far as they could be read; absent where there are none. They make it `unclear`. */
  readonly environment?: readonly RequestVariable[]
  readonly paths: readonly RequestPath[]
  /** Addresses that it fetches. */
  readonly urls: readonly string[]
  /** A part of the call could not be read, so it may do more than is listed here. */
  readonly unclear: boolean
  /** What a rule matches that is made of an answer to it (`remember`); absent where none can be made. */
  readonly allowRule?: RuleMatch
  readonly denyRule?: RuleMatch
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

/** The answer that the agent receives. `reason`: why, by a person or by what decided; sent where the protocol supports it. */
export type AgentAnswer =
  | {
      readonly outcome: 'selected'
      readonly optionId: string
      /** It becomes a rule: to allow the same call again, or to deny its command or path. */
      readonly remember?: RuleLifetime
      readonly reason?: string
    }
  | { readonly outcome: 'accept'; readonly content?: Readonly<Record<string, unknown>>; readonly reason?: string }
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

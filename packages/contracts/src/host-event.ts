import type { AgentAnswer, AnsweredBy, PermissionMode } from './agent-request.js'
import type { ContentBlock } from './content.js'
import type { AgentConfig, AgentNotice } from './notice.js'
import type { SessionFailure, SessionStatus, StopReason } from './session.js'

/** Events that only the registry emits: what the host did, and the agent's notices once they are logged. */

/**
 * What the host put before a prompt; the agent is told it as text in front of the content. `instructions` of the spawn,
 * where the agent has no channel of its own for them; the `transcript` of a conversation that it cannot take up by
 * itself; an `interruption` that this prompt caused, which is no wish to stop (failure mode 19).
 */
export interface PromptPreface {
  readonly kind: 'instructions' | 'transcript' | 'interruption'
  readonly text: string
}
export interface UserPrompt {
  readonly type: 'user-prompt'
  readonly content: readonly ContentBlock[]
  /** `spawn` for the prompt given at start, `queue` for one that waited. */
  readonly origin?: 'prompt' | 'spawn' | 'queue'
  readonly preface?: readonly PromptPreface[]
  /** When a prompt that waited began to. */
  readonly queuedAt?: string
  /** W3C `traceparent` of the call that brought it, where that is part of a trace. */
  readonly traceparent?: string
  /** `false`: it waited for something that was stopped, and the agent never gets it. */
  readonly sent?: false
}
export interface StatusChange {
  readonly type: 'status'
  readonly status: SessionStatus
  readonly previous?: SessionStatus
  readonly exitCode?: number
}
export interface AgentPromptResolved {
  readonly type: 'agent-prompt-resolved'
  readonly requestId: string
  readonly answer: AgentAnswer
  readonly by: AnsweredBy
}
/**
 * How requests are answered from here on; it has the type of the agent's own settings, which are set by the same call
 * and may follow it to a mode that fits.
 */
export interface PermissionModeChange {
  readonly type: 'config'
  readonly config: AgentConfig
  readonly permissionMode: PermissionMode
  readonly by: AnsweredBy
}
export interface RuntimeProgress {
  readonly type: 'runtime-progress'
  readonly elapsedMs: number
  readonly idleMs: number
  readonly currentTool?: string
  /** What is waited for, where it is not the agent's turn. */
  readonly message?: string
}
export interface RuntimeWarning {
  readonly type: 'runtime-warning'
  readonly message: string
  readonly idleMs?: number
}
/** A repair of the log itself; appended, never a rewrite. */
export interface Repair {
  readonly type: 'repair'
  readonly detail: string
}
/** The last event of a run of the agent; only a resume can be followed by more. */
export interface SessionStopped {
  readonly type: 'session-stopped'
  readonly status: SessionStatus
  readonly stopReason: StopReason
  readonly failure?: SessionFailure
  readonly exitCode?: number
  readonly signal?: string
}

export type HostEvent =
  | UserPrompt
  | StatusChange
  | AgentPromptResolved
  | AgentNotice
  | PermissionModeChange
  | RuntimeProgress
  | RuntimeWarning
  | Repair
  | SessionStopped
export type HostEventType = HostEvent['type']

const TYPES: Readonly<Record<HostEventType, true>> = {
  'user-prompt': true,
  status: true,
  'agent-prompt-resolved': true,
  plan: true,
  usage: true,
  config: true,
  title: true,
  output: true,
  notice: true,
  extension: true,
  'runtime-progress': true,
  'runtime-warning': true,
  repair: true,
  'session-stopped': true,
}
export const HOST_EVENT_TYPES = Object.keys(TYPES) as readonly HostEventType[]

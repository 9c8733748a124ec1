import { type ChangeTotals, SKIP_REASONS } from './agent/change-store.js'
import type { AgentAnswer, AnsweredBy, PermissionMode } from './agent-request.js'
import type { ContentBlock } from './wire/content-block.js'
import type { AgentConfig, AgentNotice } from './notice.js'
import { isRecord } from './json.js'
import { type PayloadCheck, texts } from './payload-check.js'
import { SESSION_STATUSES, type SessionFailure, type SessionStatus, type StopReason } from './session.js'

/** Events that only the registry emits: what the host did, and the agent's notices once they are logged. */

/**
 * Context that the host sends as text before the content of a prompt: the `envelope`, which describes the session to its
 * agent, and the `instructions` of the spawn, if the agent has no channel for them; the `transcript` of a conversation that
 * the agent cannot resume itself; the `rewind` of files that the agent knows as they were; the `interruption` that this prompt caused, so that the agent does not take it for a wish
 * to stop (failure mode 19).
 */
export interface PromptContextPart {
  readonly kind: 'envelope' | 'instructions' | 'transcript' | 'rewind' | 'interruption'
  readonly text: string
}
/**
 * Digests of a caller's idempotency key and of the request that it was sent with, so that a repeat is recognised by the next
 * host too.
 */
export interface IdempotencyDigests {
  readonly key: string
  readonly request: string
}
export interface UserPrompt {
  readonly type: 'user-prompt'
  readonly content: readonly ContentBlock[]
  /** `spawn` for the prompt of the start, `queue` for a queued one. */
  readonly origin?: 'prompt' | 'spawn' | 'queue'
  readonly preface?: readonly PromptContextPart[]
  /** When the prompt was queued. */
  readonly queuedAt?: string
  /** W3C `traceparent` of the call that sent it, if that is part of a trace. */
  readonly traceparent?: string
  /** `false`: it was queued behind a turn that was stopped, and is never sent to the agent. */
  readonly sent?: false
  /** Of a call with an idempotency key. */
  readonly idempotency?: IdempotencyDigests
}
export interface StatusChange {
  readonly type: 'status'
  readonly status: SessionStatus
  readonly previous?: SessionStatus
  readonly exitCode?: number
  /** Of an end, as its `session-stopped` has them: a reader of lines gets no other event about it. */
  readonly stopReason?: StopReason
  readonly failure?: SessionFailure
}
export interface AgentPromptResolved {
  readonly type: 'agent-prompt-resolved'
  readonly requestId: string
  readonly answer: AgentAnswer
  readonly by: AnsweredBy
}
/** The permission mode from here on; `config` has the agent's settings, which may change to a matching mode. */
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
  /** What the session waits for, if it is not the agent. */
  readonly message?: string
}
export interface RuntimeWarning {
  readonly type: 'runtime-warning'
  readonly message: string
  readonly idleMs?: number
}
/**
 * The state of the session's folder was recorded: after the turn of the envelope, or without one before the agent was started.
 * The counts are what changed since the checkpoint before.
 */
export interface CheckpointTaken extends ChangeTotals {
  readonly type: 'checkpoint'
  readonly id: string
  /** What changed since the session's first checkpoint; absent if that cannot be said. */
  readonly total?: ChangeTotals
  /** How many paths it does not contain; absent for none. */
  readonly leftOut?: number
}

export const CHECKPOINT_SKIP_REASONS = [
  ...SKIP_REASONS,
  /** The session's folder leads elsewhere than at its start. */
  'folder_moved',
  /** It was not recorded in time, and the next prompt did not wait longer. */
  'next_prompt',
  /** It was not recorded in time, and the end of the session did not wait longer. */
  'session_end',
  /** The gateway ended before it was recorded. */
  'gateway_end',
  'failed',
] as const
export type CheckpointSkipReason = (typeof CHECKPOINT_SKIP_REASONS)[number]

/** The state of the folder was not recorded: its changes are part of those of the next checkpoint. */
export interface CheckpointSkipped {
  readonly type: 'checkpoint-skipped'
  readonly reason: CheckpointSkipReason
  readonly detail?: string
}

/** Files of the folder were set back to those of a checkpoint. The next prompt says so to the agent. */
export interface Rewound {
  readonly type: 'rewound'
  /** The checkpoint whose files were wanted. */
  readonly to: string
  /** The state before, to rewind the rewind. */
  readonly before: string
  /** How many files were changed. */
  readonly files: number
  /** What differs since the session's first checkpoint now; absent if that cannot be said. */
  readonly total?: ChangeTotals
}

/** A repair of the log, which is appended; the log is never rewritten. */
export interface Repair {
  readonly type: 'repair'
  readonly detail: string
}
/** The last event of a run of the agent; more events follow only after a resume. */
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
  | CheckpointTaken
  | CheckpointSkipped
  | Rewound
  | Repair
  | SessionStopped
export type HostEventType = HostEvent['type']

const isTotals = ({ files, additions, deletions }: Readonly<Record<string, unknown>>): boolean =>
  [files, additions, deletions].every((count) => typeof count === 'number')
const isOptionalTotals = (value: unknown): boolean => value === undefined || (isRecord(value) && isTotals(value))

const isStatus = (value: unknown): boolean => (SESSION_STATUSES as readonly unknown[]).includes(value)

/** Every type has a check, so that a new one cannot be read unchecked. */
export const HOST_EVENT_CHECKS: Readonly<Record<HostEventType, PayloadCheck>> = {
  'user-prompt': ({ content }) => Array.isArray(content),
  status: ({ status }) => isStatus(status),
  'agent-prompt-resolved': ({ requestId, answer }) => typeof requestId === 'string' && isRecord(answer),
  plan: ({ entries }) => Array.isArray(entries) && entries.every((entry) => isRecord(entry) && texts('content')(entry)),
  usage: texts(),
  config: ({ config }) => isRecord(config),
  title: texts('title'),
  output: texts('text', 'stream'),
  notice: texts('text'),
  extension: texts(),
  'runtime-progress': texts(),
  'runtime-warning': texts('message'),
  checkpoint: (payload) => texts('id')(payload) && isTotals(payload) && isOptionalTotals(payload['total']),
  'checkpoint-skipped': texts('reason'),
  rewound: (payload) => texts('to', 'before')(payload) && isOptionalTotals(payload['total']),
  repair: texts('detail'),
  'session-stopped': ({ status, stopReason, failure }) =>
    isStatus(status) &&
    typeof stopReason === 'string' &&
    (failure === undefined || (isRecord(failure) && texts('kind', 'summary')(failure))),
}
export const HOST_EVENT_TYPES = Object.keys(HOST_EVENT_CHECKS) as readonly HostEventType[]

import type { PermissionMode } from './agent-request.js'
import type { AgentConfig } from './notice.js'

/** The record of one run of an agent CLI: AIP-46's fields to the letter, then ours. */

export const SESSION_STATUSES = ['starting', 'running', 'exited', 'killed', 'error'] as const
export type SessionStatus = (typeof SESSION_STATUSES)[number]

/** Why a session stopped; set where the cause is known, first cause wins. */
export const STOP_REASONS = [
  'completed',
  'user_canceled',
  'max_iterations',
  'loop_detected',
  'budget_exceeded',
  'timeout',
  'error',
  'agent_crashed',
  'hook_stopped',
  'shutdown',
  'idle',
  'expired',
] as const
export type StopReason = (typeof STOP_REASONS)[number]

/** What a person reads beside the reason. */
export const STOP_REASON_TEXT: Readonly<Record<StopReason, string>> = {
  completed: 'the agent ended by itself',
  user_canceled: 'a person ended it',
  max_iterations: 'it reached its maximum of turns',
  loop_detected: 'the agent repeated the same call',
  budget_exceeded: 'it reached its budget',
  timeout: 'the agent was silent for too long',
  error: 'the connection to the agent failed',
  agent_crashed: 'the agent crashed',
  hook_stopped: 'a hook ended it',
  shutdown: 'the gateway stopped',
  idle: 'it had been idle; the next prompt resumes it',
  expired: 'it reached its time limit',
}

export const FAILURE_KINDS = [
  'startup_failure',
  'handshake_failure',
  'load_session_failure',
  'protocol_failure',
  'prompt_failure',
  'cancellation',
  'permission_failure',
  'provider_auth_failure',
  'process_exit',
  'transport_failure',
  'timeout',
  'unknown_failure',
] as const
export type FailureKind = (typeof FAILURE_KINDS)[number]

export interface SessionFailure {
  readonly kind: FailureKind
  /** At most 2 KiB, redacted. */
  readonly summary: string
  readonly crashBundlePath?: string
}

/** A session that an agent has stored itself, and may load or resume. */
export interface StoredAgentSession {
  readonly agentSessionId: string
  readonly cwd?: string
  readonly title?: string
  readonly updatedAt?: string
}

/** What the running agent said of itself in its handshake. */
export interface AgentInfo {
  readonly name?: string
  readonly version?: string
  readonly capabilities: AgentCapabilities
}

export interface AgentCapabilities {
  readonly load: boolean
  readonly resume: boolean
  readonly list: boolean
  readonly close: boolean
  readonly fork: boolean
  /** Absent as false: it can be told to forget a session. */
  readonly delete?: boolean
  readonly image: boolean
  readonly audio: boolean
  readonly embeddedContext: boolean
  readonly mcpHttp: boolean
  readonly mcpSse: boolean
  readonly additionalDirectories: boolean
}

/** What confines the agent's process (AIP-36). */
export interface SessionSandbox {
  readonly provider: string
  /** Whether everything that its profile asks for holds. */
  readonly enforced: boolean
  /** Why not, or what does not. */
  readonly reason?: string
}

/** What a session was granted of starting others, with all defaults filled in. */
export interface DelegationGrant {
  /** Longest life of a child, and its life when it names none. */
  readonly ttlSeconds: number
  /** Generations that may still follow. */
  readonly maxDepth: number
  /** Children that live at once. */
  readonly maxChildren: number
  readonly permissionMode: PermissionMode
  readonly adapters: readonly string[]
  readonly modes: readonly string[]
  /** Names. */
  readonly options: readonly string[]
}

/** The turn that runs, or the last one. */
export interface SessionTurn {
  readonly number: number
  readonly state: 'idle' | 'busy' | 'awaiting-input'
  readonly startedAt?: string
  readonly lastActivityAt?: string
  readonly lastActivityKind?: string
  readonly currentTool?: string
}

export const SESSION_HEALTHS = ['healthy', 'degraded', 'stale', 'dead', 'unknown'] as const
export type SessionHealth = (typeof SESSION_HEALTHS)[number]

export interface Session {
  // AIP-46.
  readonly id: string
  readonly adapterSlug: string
  readonly workspaceSlug: string
  readonly cwd: string
  readonly status: SessionStatus
  readonly startedAt: string
  readonly endedAt?: string
  readonly lastOutputAt?: string
  readonly exitCode?: number
  readonly label?: string

  // Beyond it. Liveness has three axes, none inferred from another: the process (`status`), the
  // connection, and the turn.
  readonly hostId: string
  readonly type: 'user' | 'system' | 'spawned'
  readonly title?: string
  /** Number of the last turn that has begun. */
  readonly turnCount: number
  /** How many of them never reached the agent, since what they waited for was stopped; absent for none. */
  readonly unsentTurns?: number
  readonly turn: SessionTurn
  readonly lastActiveAt: string
  readonly connection: 'connected' | 'disconnected'
  readonly stopReason?: StopReason
  readonly failure?: SessionFailure
  readonly signal?: string
  readonly resumable: boolean
  /** ISO-8601; the session ends then, whatever it does. */
  readonly expiresAt?: string
  /**
   * How it was taken up again the last time: by the agent's own `load` or `resume`, by `native` arguments of its start,
   * by a `transcript` that it is told, or not at all (`fresh`).
   */
  readonly resumedHow?: 'load' | 'resume' | 'native' | 'transcript' | 'fresh'
  /**
   * How the agent got the instructions of the spawn: by its own `channel`, or with a `prompt`; `pending` until then.
   * Absent without instructions.
   */
  readonly instructed?: 'pending' | 'channel' | 'prompt'
  readonly agentSessionId?: string
  /** Id of the session whose conversation it began with. */
  readonly forkedFrom?: string
  readonly agent?: AgentInfo
  readonly config?: AgentConfig
  readonly permissionMode: PermissionMode
  /** Absent until its agent was started. */
  readonly sandbox?: SessionSandbox
  readonly additionalDirectories?: readonly string[]
  readonly warnings: readonly string[]
  readonly pendingRequests: number
  /**
   * How it is, as the host sees it: `degraded` after a warning of silence, `stale` without a connection,
   * `dead` without a process, `unknown` while it starts.
   */
  readonly health?: SessionHealth
  /** Prompts that wait for their turn; absent for none. */
  readonly queuedPrompts?: number
  readonly lastSeq: number
  /** Present for a session that ran elsewhere and was imported; such a one is never resumable. */
  readonly imported?: SessionImport
  /** The session whose agent started it, and the first of that line; absent for one that a person started. */
  readonly parentSessionId?: string
  readonly rootSessionId?: string
  /** Steps from the first of the line; absent for 0. */
  readonly depth?: number
  /** What its agent may do about sessions of its own; absent for nothing. */
  readonly delegation?: DelegationGrant
}

/** Where an imported session comes from. */
export interface SessionImport {
  /** ISO-8601. */
  readonly at: string
  /** Its id where it was exported. */
  readonly id: string
  readonly hostId: string
}

/** Whether the agent's process is meant to be there. */
export const isLive = (session: Pick<Session, 'status'>): boolean =>
  session.status === 'starting' || session.status === 'running'

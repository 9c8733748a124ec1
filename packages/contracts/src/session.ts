import type { ChangeTotals } from './agent/change-store.js'
import type { PermissionMode } from './agent-request.js'
import type { AgentConfig } from './notice.js'
import type { Budget, Usage } from './usage.js'

/** The record of a session: the fields of AIP-46, then ours. */

export const SESSION_STATUSES = ['starting', 'running', 'exited', 'killed', 'error'] as const
export type SessionStatus = (typeof SESSION_STATUSES)[number]

/** What a session does, in one word. `status`, as AIP-46 has it, only describes the process. */
export const SESSION_STATES = [
  'starting',
  'busy',
  'waiting',
  'idle',
  'asleep',
  'unreachable',
  'ended',
  'failed',
] as const
export type SessionStateName = (typeof SESSION_STATES)[number]

/** What happens to a session whose host is lost: it waits for it, or another host continues it. */
export const HOST_LOSS_POLICIES = ['wait', 'move'] as const
export type HostLossPolicy = (typeof HOST_LOSS_POLICIES)[number]

/** Explains the state to a person. */
export const SESSION_STATE_TEXT: Readonly<Record<SessionStateName, string>> = {
  starting: 'its agent is being started',
  busy: 'a turn is running',
  waiting: 'its agent waits for an answer of a person',
  idle: 'its agent waits for the next prompt',
  asleep: 'its agent was stopped to save resources, or with its gateway; the next prompt wakes it',
  unreachable: 'its host is not heard from; what is shown is what it last reported',
  ended: 'it has ended; a prompt does not start it again',
  failed: 'it ended by a failure',
}

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
  'moved',
] as const
export type StopReason = (typeof STOP_REASONS)[number]

/** Explains the reason to a person. */
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
  moved: 'another host continues it',
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

/** A session that an agent stored itself and may load or resume. */
export interface StoredAgentSession {
  readonly agentSessionId: string
  readonly cwd?: string
  readonly title?: string
  readonly updatedAt?: string
}

/** What the agent reported in its handshake. */
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
  /** Whether it can delete a session; absent means false. */
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
  /** Whether everything in its profile is enforced. */
  readonly enforced: boolean
  /** What is not enforced, and why. */
  readonly reason?: string
}

/** The permission of a session to start others, with all defaults filled in. */
export interface DelegationGrant {
  /** Maximum and default lifetime of a child. */
  readonly ttlSeconds: number
  /** Generations that may follow. */
  readonly maxDepth: number
  /** Children that may be live at the same time. */
  readonly maxChildren: number
  readonly permissionMode: PermissionMode
  readonly adapters: readonly string[]
  readonly modes: readonly string[]
  /** Names of options. */
  readonly options: readonly string[]
}

/** The running turn, or the last one. */
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

/** The git worktree that a session runs in. All paths are real ones. */
export interface SessionWorktree {
  readonly path: string
  readonly branch: string
  /** The branch, or the commit, that it was started from and that a merge goes to. */
  readonly base: string
  /** The folder above `.git`, or a bare repository. */
  readonly repository: string
  /** The folder that the start named: the rules and bounds of its workspace hold in the worktree. */
  readonly folder: string
}

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

  // Additions. Liveness has three independent axes: the process (`status`), the connection and the turn.
  /** Name of the host that owns it, and runs its agent. */
  readonly hostId: string
  readonly type: 'user' | 'system' | 'spawned'
  /** All of it in one word; derived, as `attachable` and `wakeable` are. */
  readonly state: SessionStateName
  /** Whether a client can follow and prompt its agent now. */
  readonly attachable: boolean
  /** Whether the next prompt starts its agent again. */
  readonly wakeable: boolean
  readonly title?: string
  /** Number of the last turn that has begun. */
  readonly turnCount: number
  /** How many of them were never sent, since the turn before them was stopped; absent for none. */
  readonly unsentTurns?: number
  /** Its agent outlives the gateway: the next gateway goes on with it. Absent otherwise, and after its end. */
  readonly kept?: true
  readonly turn: SessionTurn
  readonly lastActiveAt: string
  readonly connection: 'connected' | 'disconnected'
  readonly stopReason?: StopReason
  readonly failure?: SessionFailure
  readonly signal?: string
  /** Whether its conversation can be continued after its end: by the next prompt if it is `wakeable`, else by a resume. */
  readonly resumable: boolean
  /** When it was killed after its own end, ISO-8601: a prompt does not wake it any more. */
  readonly killedAt?: string
  /** Resumes in a row that failed; after {@link MAX_FAILED_RESUMES} no prompt wakes the session. Absent for none. */
  readonly failedResumes?: number
  /** ISO-8601; the session ends at this time. */
  readonly expiresAt?: string
  /** How it was last resumed: the agent's `load` or `resume`, `native` start arguments, a `transcript`, or `fresh`. */
  readonly resumedHow?: 'load' | 'resume' | 'native' | 'transcript' | 'fresh'
  /** How the agent got its instructions: by its `channel` or a `prompt`; `pending` until then; absent without any. */
  readonly instructed?: ContextDelivery
  /** How the agent got the description of its session (docs/lifecycle.md); absent without one. */
  readonly envelope?: ContextDelivery
  readonly agentSessionId?: string
  /** Absent for a session in a folder of a person. */
  readonly worktree?: SessionWorktree
  /** Name of the host that had it before its loss; absent if it was never moved. */
  readonly movedFrom?: string
  /** Name of the host that has it now: what is here is what this one last knew. Absent where it was not moved away. */
  readonly movedTo?: string
  /** `move`: another host continues it when its own is lost. Absent for `wait`. */
  readonly onHostLoss?: 'move'
  /** Id of the session that it was forked from. */
  readonly forkedFrom?: string
  readonly agent?: AgentInfo
  readonly config?: AgentConfig
  readonly permissionMode: PermissionMode
  /** Absent until the agent was started. */
  readonly sandbox?: SessionSandbox
  readonly additionalDirectories?: readonly string[]
  readonly warnings: readonly string[]
  readonly pendingRequests: number
  /** `degraded`: warned of inactivity; `stale`: no connection; `dead`: no process; `unknown`: it is starting. */
  readonly health?: SessionHealth
  /** Number of queued prompts that will be sent; absent for none. */
  readonly queuedPrompts?: number
  readonly lastSeq: number
  /** Present for an imported session, which is never resumable. */
  readonly imported?: SessionImport
  /** The session whose agent started it, and the first ancestor; absent if a person started it. */
  readonly parentSessionId?: string
  readonly rootSessionId?: string
  /** Generations below the first ancestor; absent for 0. */
  readonly depth?: number
  /** What its files have become since its start, at the last checkpoint; absent without one. */
  readonly changes?: ChangeTotals
  /** What a person has reviewed last. */
  readonly reviewed?: SessionReview
  /** What its agent may start; absent if nothing. */
  readonly delegation?: DelegationGrant
  /** What it used so far; absent before its first turn has ended. */
  readonly usage?: Usage
  /** What it may use; absent for no limit of its own. */
  readonly budget?: Budget
}

/** After so many failed resumes in a row only an explicit resume starts the agent. */
export const MAX_FAILED_RESUMES = 10

/** How an agent gets what it has to know for a whole conversation. */
export type ContextDelivery = 'pending' | 'channel' | 'prompt'

/** The state of the files that a person has reviewed. */
export interface SessionReview {
  /** ISO-8601. */
  readonly at: string
  /** Id of its checkpoint. */
  readonly checkpoint: string
  /** The turn at whose end the files were so; absent if they were reviewed as they were at that time. */
  readonly turn?: number
}

/** Where an imported session comes from. */
export interface SessionImport {
  /** ISO-8601. */
  readonly at: string
  /** Its id on that host. */
  readonly id: string
  readonly hostId: string
}

/** Whether the session is starting or running. */
export const isLive = (session: Pick<Session, 'status'>): boolean =>
  session.status === 'starting' || session.status === 'running'

import type { Clock, ErrorCode, NewId, SessionEvent, WorkspaceResolver } from '@agentproto/contracts'
import type {
  AdapterCatalog,
  AdoptAgent,
  AgentGuard,
  ChangeStore,
  EventStore,
  RuleStore,
  SessionMoves,
  SessionStore,
  SessionWorktrees,
  StartAgent,
  StoredSession,
} from '@agentproto/contracts/agent'
import type {
  ChangeService,
  PermissionService,
  SessionArchive,
  SessionService,
  UsageService,
  WorktreeService,
} from '@agentproto/contracts/wire'
import type { CrashBundleStore } from './lifecycle/crash-bundle.js'
import type { RegistryConfig } from './registry-config.js'
import type { RequestGate } from './requests/request-gate.js'
import type { UsageRow, UsageStore } from './usage/usage-row.js'

/** What a registry is made of. */

export interface SessionRegistryOptions {
  readonly startAgent: StartAgent
  /** Goes on with agents that an earlier host has started and that are kept; without it they end with their host. */
  readonly adoptAgent?: AdoptAgent
  readonly adapters: AdapterCatalog
  readonly workspaces: WorkspaceResolver
  readonly store: SessionStore
  readonly logs: EventStore
  readonly hostId: string
  readonly clock?: Clock
  readonly newId?: NewId
  readonly config?: Partial<RegistryConfig>
  /** Redacts known secret values in what is logged. */
  readonly redact?: (text: string) => string
  /** Keeps the permission rules of workspaces; without it they end with the registry. */
  readonly rules?: RuleStore
  /** Keeps what was used; without it that ends with the registry. */
  readonly usage?: UsageStore
  /** Called with what each turn used, once it has ended. Must not throw. */
  readonly onUsage?: (row: UsageRow) => void
  /** Creates worktrees for sessions; without it none are. */
  readonly worktrees?: SessionWorktrees
  /** Records what sessions change in their folders; without it nothing is recorded. */
  readonly changes?: ChangeStore
  /** Checkpoints older than this are deleted, in milliseconds; 0 for never. Default 30 days. */
  readonly checkpointAgeMs?: number
  /** Stores crash bundles; without it none are kept. */
  readonly crashBundles?: CrashBundleStore
  /** Decides about requests of agents before any rule, mode or person. */
  readonly gate?: RequestGate
  /** Ends processes that a dead host left of a session; called at boot, before the session is repaired. */
  readonly endLeftovers?: (stored: StoredSession) => Promise<void>
  /**
   * Called at boot for each session with an agent of an earlier host. Must not throw.
   * @param refused why it does not go on; absent where it does
   */
  readonly onAdoption?: (refused?: ErrorCode) => void
  /** Called at boot when every session that can go on with the agent of an earlier host does. Must not throw. */
  readonly onAdopted?: () => Promise<void>
  /** Called with each stored batch of events. `isUrgent`: it changes the state of its session. Must not throw. */
  readonly onEvents?: (events: readonly SessionEvent[], isUrgent: boolean) => void
  /** Called before the agent of a session is stopped, or after it left, so that its token can be revoked. Must not throw. */
  readonly onAgentEnding?: (sessionId: string) => void
  /** Why no session that may be moved runs here until `moves.release`; absent where they may from the start. */
  readonly suspended?: string
  /** For what outlives this process: how long agents of sessions that may be moved run without being named again. */
  readonly guardAgents?: (guard: AgentGuard) => Promise<void>
  /** Milliseconds of a clock that no one can set. Default: of Node. */
  readonly monotonic?: () => number
  /** Called with problems that no caller gets: a file moved aside, a record that could not be saved. */
  readonly onProblem?: (problem: string) => void
}

export interface SessionRegistry extends SessionService, AsyncDisposable {
  /** How permission requests are answered without a person. */
  readonly permissions: PermissionService
  /** What is done at last with the worktrees of sessions. */
  readonly worktrees: WorktreeService
  /** What sessions changed in their folders. */
  readonly changes: ChangeService
  /** The stored sessions as documents. */
  readonly archive: SessionArchive
  /** What the sessions used, also deleted ones. */
  readonly usage: UsageService
  /** What a fleet of hosts does when one of them is lost. */
  readonly moves: SessionMoves
  /** Ends every live session (`shutdown`) and stores everything. Idempotent. */
  close(options?: CloseOptions): Promise<void>
}

export interface CloseOptions {
  /** Leaves the agents that are kept to the next host. Default: they end as the others do. */
  readonly keepAgents?: boolean
}

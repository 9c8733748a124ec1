import type {
  AdapterCatalog,
  Clock,
  EventStore,
  NewId,
  PermissionService,
  RuleStore,
  SessionArchive,
  SessionEvent,
  SessionService,
  SessionStore,
  StartAgent,
  StoredSession,
  WorkspaceResolver,
} from '@agentproto/contracts'
import type { CrashBundleStore } from './lifecycle/crash-bundle.js'
import type { RegistryConfig } from './registry-config.js'
import type { RequestGate } from './requests/request-gate.js'

/** What a registry is made of, and what it is. */

export interface SessionRegistryOptions {
  readonly startAgent: StartAgent
  readonly adapters: AdapterCatalog
  readonly workspaces: WorkspaceResolver
  readonly store: SessionStore
  readonly logs: EventStore
  readonly hostId: string
  readonly clock?: Clock
  readonly newId?: NewId
  readonly config?: Partial<RegistryConfig>
  /** Takes known secret values out of what is logged. */
  readonly redact?: (text: string) => string
  /** Keeps the permission rules of workspaces; without it they end with the registry. */
  readonly rules?: RuleStore
  /** Keeps what is left of a failure; without it nothing is kept. */
  readonly crashBundles?: CrashBundleStore
  /** Looks at what agents ask before any rule, mode or person does. */
  readonly gate?: RequestGate
  /** Ends what a dead host left of a session's processes; called at boot, before the session is repaired. */
  readonly endLeftovers?: (stored: StoredSession) => Promise<void>
  /** Told each batch of events that is stored, and whether it changes the state of its session. Must not throw. */
  readonly onEvents?: (events: readonly SessionEvent[], urgent: boolean) => void
  /** Told before the agent of a session is stopped, or once it left: what it was given is to be taken back. Must not throw. */
  readonly onAgentEnding?: (sessionId: string) => void
  /** Told what went wrong beside any call: a file moved aside, a record that could not be saved. */
  readonly onProblem?: (problem: string) => void
}

export interface SessionRegistry extends SessionService, AsyncDisposable {
  /** How permission requests are answered without a person. */
  readonly permissions: PermissionService
  /** The stored sessions as documents. */
  readonly archive: SessionArchive
  /** Ends every live session (`shutdown`) and stores everything. Idempotent. */
  close(): Promise<void>
}

import type { Clock, Principal, Refusal, WorkspaceService } from '@agentproto/contracts'
import type { AdapterCatalog } from '@agentproto/contracts/agent'
import type { ChangeService, HostService, SessionBounds, SessionService } from '@agentproto/contracts/wire'

/** What the tools use of the services that HTTP uses too; the client of another gateway can provide it all. */
export type ToolSessions = Pick<
  SessionService,
  | 'spawn'
  | 'list'
  | 'get'
  | 'prompt'
  | 'waitTurn'
  | 'resume'
  | 'interrupt'
  | 'kill'
  | 'output'
  | 'follow'
  | 'requests'
  | 'answer'
>

export interface McpDeps {
  readonly sessions: ToolSessions
  readonly adapters: Pick<AdapterCatalog, 'list'>
  readonly workspaces: Pick<WorkspaceService, 'list'>
  /** Without it, what a session changed cannot be listed. */
  readonly changes?: Pick<ChangeService, 'list' | 'diff'>
  /** Without it, hosts cannot be listed. */
  readonly hosts?: HostService
  /** Of the gateway. */
  readonly version: string
  /** Default: the system's. */
  readonly clock?: Clock
  /** Receives each call that the scope of its caller does not cover. Must not throw. */
  readonly onRefused?: (refusal: Refusal) => void
  /** Receives every error that is not one of ours, and what the protocol refuses. Must not throw. */
  readonly onError?: (error: unknown) => void
}

/** One call of a tool. */
export interface Call {
  readonly by: Principal
  /** The sessions that the caller may use with this tool; undefined for all. */
  readonly within: SessionBounds | undefined
  readonly signal: AbortSignal
  /** Reports progress; undefined if the caller did not ask for it. */
  readonly progress: ((message: string) => void) | undefined
}

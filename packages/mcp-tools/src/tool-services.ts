import type { AdapterCatalog, Principal, SessionBounds, SessionService, WorkspaceService } from '@agentproto/contracts'

/** What the tools use of the services that HTTP serves as well; a client of a gateway elsewhere can be all of it. */
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
export type ToolAdapters = Pick<AdapterCatalog, 'list'>
export type ToolWorkspaces = Pick<WorkspaceService, 'list'>

/** Who calls a tool, and whether they still wait. */
export interface Call {
  readonly by: Principal
  /** The sessions that the caller reaches with this tool; absent for all. */
  readonly within?: SessionBounds | undefined
  readonly signal: AbortSignal
  /** Refuses a session that the caller does not reach. @throws `session_not_found` */
  reach(sessionId: string): Promise<unknown>
  /** Tells that something goes on; absent where the caller did not ask for it. */
  readonly progress?: ((message: string) => void) | undefined
}

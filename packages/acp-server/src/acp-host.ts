import type {
  AgentCapabilities,
  AnswerRequest,
  ContentBlock,
  Interrupted,
  McpServer,
  Session,
  SessionChange,
  SessionEvent,
  SessionFilter,
  SessionPage,
  SessionRequest,
  TraceContext,
} from '@agentproto/contracts'

/** What an ACP server serves: the sessions of a gateway. The `sessions` of `@agentproto/client` are one. */
export interface AcpSessions {
  list(filter: SessionFilter): Promise<SessionPage>
  /** @throws `session_not_found`; so does every call below */
  get(id: string): Promise<Session>
  /**
   * Resolves when the prompt is admitted, or waits for its turn; an ended session that is resumable is resumed first.
   * @throws `queue_full`
   */
  prompt(
    id: string,
    request: { readonly prompt: ContentBlock[]; readonly whenBusy: 'queue' },
    options?: { readonly trace?: TraceContext },
  ): Promise<{ readonly turn: number }>
  /** Without a turn it ends whatever runs, and what waits behind it. */
  interrupt(id: string, request: { readonly turn?: number }): Promise<Interrupted>
  remove(id: string): Promise<unknown>
  /** Follows the log from `after` on; ends with the session. */
  events(id: string, options: FollowOptions): AsyncIterable<SessionEvent>
  /** One page of the log, of events with `seq > after`. */
  eventsPage(id: string, after: number, limit: number): Promise<AcpEventsPage>
  requests(id: string): Promise<readonly SessionRequest[]>
  answer(id: string, requestId: string, answer: AnswerRequest): Promise<unknown>
  /** Absent where nothing can be set on a running agent. */
  configure?(id: string, change: AcpChange): Promise<Session>
  /** Absent where no session can be forked. @throws `not_supported`, `turn_in_progress` */
  fork?(id: string): Promise<Session>
}

/** What a client sets; each is one of the values that the session's `config` offers. */
export interface AcpChange {
  readonly mode?: string
  readonly model?: string
  readonly options?: Record<string, string | boolean>
}

interface FollowOptions {
  readonly after: number
  readonly signal: AbortSignal
  readonly onGap: (gap: { readonly after: number; readonly first: number }) => void
  readonly onState: (state: AcpConnectionState) => void
}

/** How the connection to the gateway is. */
export type AcpConnectionState =
  | { readonly state: 'connected' }
  | { readonly state: 'reconnecting'; readonly awayMs: number }

/** How the changes of all sessions are watched: without a list of them first. */
export interface AcpWatchOptions {
  readonly signal: AbortSignal
  readonly listed: false
  readonly onState: (state: AcpConnectionState) => void
}

export interface AcpEventsPage {
  readonly events: readonly SessionEvent[]
  readonly nextAfter: number
  /** Events that are gone: those after `after` and before `first`. */
  readonly gap?: { readonly after: number; readonly first: number }
}

/** What a client asked for with `session/new`. */
export interface AcpOpenRequest {
  /** Absolute, as ACP demands; checked by whoever opens. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** The request's `_meta.agentproto`, unparsed. */
  readonly meta: unknown
  /** The trace that the client's `_meta` names. */
  readonly trace?: TraceContext
}

/** A session for a client: a new one, or one that was there and whose history the client has not seen. */
export interface AcpOpened {
  readonly session: Session
  readonly attached: boolean
}

export interface AcpServerOptions {
  readonly sessions: AcpSessions
  /**
   * The changes of all sessions; the `watch` of `@agentproto/client` is one. Without it a client misses it when somebody
   * else resumes a session that it has open and that has ended.
   */
  readonly watch?: (options: AcpWatchOptions) => AsyncIterable<SessionChange>
  /** Carries out `session/new`. @throws what the client is told */
  readonly open: (request: AcpOpenRequest) => Promise<AcpOpened>
  /** What the agent of new sessions can, as far as it is known; what is not known is taken for possible. */
  readonly agent?: () => Promise<AgentCapabilities | undefined>
  /** How a person logs the agent of new sessions in, at a terminal of the client's; undefined where there is no way. */
  readonly login?: () => Promise<AcpLogin | undefined>
  /** Name and version that the server gives of itself. */
  readonly info: { readonly name: string; readonly version: string }
  /** What the client says, as it is read; its end is the end of the connection. */
  readonly input: AsyncIterable<Uint8Array>
  /** Takes one line without its newline; the promise is back-pressure. */
  readonly write: (line: string) => void | Promise<void>
  /** Told of what no client could be told. Must not throw. */
  readonly onProblem?: (problem: string) => void
}

/** What the client runs in a terminal: once more the command that it was told, with these further arguments. */
export interface AcpLogin {
  readonly name: string
  readonly description?: string
  readonly args: readonly string[]
}

/** A connection to one ACP client. */
export interface AcpServer {
  /** Settles when the client is gone; turns that it began run on. Never rejects. */
  readonly closed: Promise<void>
  /** Lets the client go. Idempotent. */
  close(): void
}

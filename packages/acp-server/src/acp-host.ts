import type {
  AgentCapabilities,
  ContentBlock,
  EventGap,
  Session,
  SessionEvent,
  SessionRequest,
  TraceContext,
} from '@agentproto/contracts'
import type { EventRecord, McpServer } from '@agentproto/contracts/agent'
import type {
  AnswerRequest,
  ConfigRequest,
  EventsPage,
  Interrupted,
  SessionChange,
  SessionFilter,
  SessionPage,
} from '@agentproto/contracts/wire'

/** The sessions of a gateway, such as `sessions` of `@agentproto/client`. */
export interface AcpSessions {
  list(filter: SessionFilter): Promise<SessionPage>
  /** @throws `session_not_found`; so does every call below */
  get(id: string): Promise<Session>
  /**
   * Resolves when the prompt is accepted or queued; an ended session that is resumable is resumed first.
   * @throws `queue_full`
   */
  prompt(
    id: string,
    request: { readonly prompt: ContentBlock[]; readonly whenBusy: 'queue' },
    options?: { readonly trace?: TraceContext },
  ): Promise<{ readonly turn: number }>
  /** Without a turn it ends the running turn and the queued prompts. */
  interrupt(id: string, request: { readonly turn?: number }): Promise<Interrupted>
  remove(id: string): Promise<unknown>
  /** Follows the log from `after` on; ends with the session. */
  events(id: string, options: FollowOptions): AsyncIterable<SessionEvent>
  /** As `events`, as they are stored, with all of one read at once, which is faster; it is used where it is there. */
  recordBatches?(id: string, options: FollowOptions): AsyncIterable<readonly EventRecord[]>
  /** One page of the log, of events with `seq > after`. */
  eventsPage(id: string, after: number, limit: number): Promise<EventsPage>
  requests(id: string): Promise<readonly SessionRequest[]>
  answer(id: string, requestId: string, answer: AnswerRequest): Promise<unknown>
  /** Each value is one that the session's `config` offers. Absent where nothing can be set on a running agent. */
  configure?(id: string, change: ConfigRequest): Promise<Session>
  /** Before a change is compared with what the session offers. @throws for who may not change it; absent where `configure` alone decides */
  mayConfigure?(id: string): Promise<unknown>
  /** Absent where no session can be forked. @throws `not_supported`, `turn_in_progress` */
  fork?(id: string): Promise<Session>
}

/** How a log is followed. */
export interface FollowOptions {
  readonly after: number
  readonly signal: AbortSignal
  readonly onGap: (gap: EventGap) => void
  readonly onState: (state: AcpConnectionState) => void
}

/** State of the connection to the gateway. */
export type AcpConnectionState =
  | { readonly state: 'connected' }
  | { readonly state: 'reconnecting'; readonly awayMs: number }

/** Options for watching the changes of all sessions, without a list of them first. */
export interface AcpWatchOptions {
  readonly signal: AbortSignal
  readonly listed: false
  readonly onState: (state: AcpConnectionState) => void
}

/** What a client asked for with `session/new`. */
export interface AcpOpenRequest {
  /** Absolute, as ACP requires; `open` checks it. */
  readonly cwd: string
  readonly additionalDirectories: readonly string[]
  readonly mcpServers: readonly McpServer[]
  /** The request's `_meta.agentproto`, unparsed. */
  readonly meta: unknown
  /** The trace that the client's `_meta` names. */
  readonly trace?: TraceContext
}

/** A session for a client: a new one, or an existing one, whose history the client has not seen. */
export interface AcpOpened {
  readonly session: Session
  readonly attached: boolean
}

/** What is served to a client, whatever carries its messages. */
export interface ServeOptions {
  readonly sessions: AcpSessions
  /**
   * The changes of all sessions, such as `watch` of `@agentproto/client`. Without it, a client does not see it when another
   * client resumes an ended session that it has open, or when the host of one is lost.
   */
  readonly watch?: (options: AcpWatchOptions) => AsyncIterable<SessionChange>
  /** Opens a session for `session/new`. @throws the error that the client gets */
  readonly open: (request: AcpOpenRequest) => Promise<AcpOpened>
  /** Before `initialize` is answered. @throws the error that the client gets */
  readonly check?: () => Promise<void>
  /** Known capabilities of the agent of new sessions; unknown ones are assumed. */
  readonly agent?: () => Promise<AgentCapabilities | undefined>
  /** How a user logs in to the agent of new sessions, in a terminal of the client; undefined where this is not possible. */
  readonly login?: () => Promise<AcpLogin | undefined>
  /** Whether a session is one of another host than that of the gateway; default: none is. Must not throw. */
  readonly isElsewhere?: (session: Session) => boolean | Promise<boolean>
  /** Whether the requests of a session's agent are sent to the client; default true. Otherwise it is only shown that they wait. */
  readonly mayAnswer?: (sessionId: string) => boolean
  /** Name and version that the server gives of itself. */
  readonly info: { readonly name: string; readonly version: string }
  /** Default: those of a client of this user, on a pipe. */
  readonly bounds?: ClientBounds
  /** Receives every error that is not one of ours; the client does not get what it says then. Must not throw. */
  readonly onError?: (error: unknown) => void
  /** Called with problems that cannot be reported to the client. Must not throw. */
  readonly onProblem?: (problem: string) => void
}

/** Bounds of one client. */
export interface ClientBounds {
  /** Sessions that it has open at once. */
  readonly openSessions: number
  /** Requests that are not answered yet, in each direction. */
  readonly openRequests: number
  /** Characters of the id of a request. */
  readonly idChars: number
}

/** Of a client that runs as the user of the gateway: only an error of its own exceeds them. */
export const OWN_CLIENT_BOUNDS: ClientBounds = { openSessions: 1_024, openRequests: 1_024, idChars: 1_024 }

export interface AcpServerOptions extends ServeOptions {
  /** The client's bytes; their end is the end of the connection. */
  readonly input: AsyncIterable<Uint8Array>
  /** Takes one line without its newline; the promise is back-pressure. */
  readonly write: (line: string) => void | Promise<void>
}

/** A login that the client runs in a terminal: its configured command with these further arguments. */
export interface AcpLogin {
  readonly name: string
  readonly description?: string
  readonly args: readonly string[]
}

/** A connection to one ACP client. */
export interface AcpServer {
  /** Settles when the client has disconnected; turns that it started keep running. Never rejects. */
  readonly closed: Promise<void>
  /** Disconnects the client. Idempotent. */
  close(): void
}

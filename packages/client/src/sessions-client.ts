import type {
  AnswerRequest,
  ConfigRequest,
  EventGap,
  ForkRequest,
  Interrupted,
  InterruptRequest,
  KillReason,
  OutputItem,
  OutputLine,
  PromptRequest,
  QueuedTurn,
  ResumeRequest,
  Session,
  SessionEvent,
  SessionFilter,
  SessionPage,
  SessionRequest,
  SpawnAgentRequest,
  TraceContext,
  Turn,
  TurnDetail,
  TurnQuery,
  TurnResult,
} from '@agentproto/contracts'
import { eventFeed, type FollowEventsOptions } from './event-feed.js'
import { follow } from './feed.js'
import { outputFeed, type FollowOutputOptions } from './output-feed.js'
import type { Transport } from './transport.js'
import { type AwaitedPrompt, promptAndWait, type TurnWaitOptions, waitTurn } from './turn-wait.js'

export interface EventsPage {
  readonly events: readonly SessionEvent[]
  /** Give it as `after` to get the next page. */
  readonly nextAfter: number
  readonly gap?: EventGap
}

export interface PromptAccepted {
  readonly ok: true
  readonly id: string
  readonly turn: number
}

/** What of a call is its own. */
export interface CallOptions {
  /** The trace that it is part of; default: the client's. */
  readonly trace?: TraceContext
}

/** The sessions of a gateway. Every call that names a session can throw `session_not_found`. */
export interface SessionsClient {
  /** One page, the newest first. */
  list(filter?: SessionFilter): Promise<SessionPage>
  get(id: string): Promise<Session>
  /**
   * AIP-46 `POST /sessions/agent`; resolves when the session runs. With an `idempotencyKey` it is sent again where the
   * connection breaks.
   * @throws `adapter_not_found`, `no_adapter_installed`, `agent_not_installed`, `workspace_not_found`, `spawn_failed`, …
   */
  start(request: SpawnAgentRequest, options?: CallOptions): Promise<Session>
  /**
   * Resolves when the prompt is admitted. With an `idempotencyKey` it is sent again where the connection breaks.
   * @throws `turn_in_progress`, `session_ended`
   */
  prompt(id: string, request: Omit<PromptRequest, 'wait'>, options?: CallOptions): Promise<PromptAccepted>
  /**
   * Prompts and waits for the end of that turn, however long it takes: it reads the turn's events as they
   * come, so that no time limit for an answer cuts it off, and resumes after a dropped connection.
   * @throws as `prompt`; `cancelled` when `signal` aborts, which leaves the turn running
   */
  promptAndWait(id: string, request: AwaitedPrompt, options?: TurnWaitOptions): Promise<TurnResult>
  /** Waits for the end of a turn that was admitted before. @throws `turn_not_found`, `cancelled` */
  waitTurn(id: string, turn: number, options?: TurnWaitOptions): Promise<TurnResult>
  /**
   * Starts the agent of a session that has ended again: in its old conversation, or with `fresh` in a new one.
   * @throws `session_live`, `not_resumable`
   */
  resume(id: string, request?: ResumeRequest, options?: CallOptions): Promise<Session>
  /**
   * Sets mode, model and options of the running agent. @throws `session_ended`, `not_supported`, `mode_unknown`,
   * `option_invalid`
   */
  configure(id: string, request: ConfigRequest): Promise<Session>
  /** A new session whose agent knows what was said so far. @throws `not_supported`, `turn_in_progress` */
  fork(id: string, request?: ForkRequest): Promise<Session>
  /**
   * Ends the running turn and stops what waits behind it; with a `turn` that one alone, be it running or queued.
   * Idempotent; resolves once the turn has ended, or is known to be never sent.
   */
  interrupt(id: string, request?: InterruptRequest): Promise<Interrupted>
  /** Resolves after the agent's whole process tree is gone. @throws `termination_failed` */
  kill(id: string, options?: { readonly reason?: KillReason }): Promise<{ readonly ok: boolean; readonly id: string }>
  /** Kills where needed, then forgets the session and its log. */
  remove(id: string): Promise<{ readonly ok: boolean; readonly id: string }>
  /** The last lines of the projection, at most 2 000, oldest first. */
  output(id: string, lastN?: number): Promise<readonly OutputLine[]>
  /** Turns that have begun, oldest first: at most 1 000, those after number `after`. */
  turns(id: string, query?: TurnQuery): Promise<readonly Turn[]>
  /** One turn with its prompt and what it has put out so far; or the prompt that waits. @throws `turn_not_found` */
  turn(id: string, turn: number): Promise<TurnDetail | QueuedTurn>
  /**
   * Follows the log: each event once and in order, resumed by itself after a dropped connection. Ends
   * with the session; stop earlier through `signal`, which makes it throw `cancelled`.
   * @throws `daemon_not_running` when the gateway stays away for `reconnectMs`
   */
  events(id: string, options?: FollowEventsOptions): AsyncIterable<SessionEvent>
  /** One page of the log, of events with `seq > after`. */
  eventsPage(id: string, after?: number, limit?: number): Promise<EventsPage>
  /** Follows the projected lines, status changes and gaps; resumes as {@link SessionsClient.events} does. */
  stream(id: string, options?: FollowOutputOptions): AsyncIterable<OutputItem>
  requests(id: string): Promise<readonly SessionRequest[]>
  /** @throws `request_not_found`, `request_resolved`, `invalid_request` */
  answer(id: string, requestId: string, answer: AnswerRequest): Promise<SessionRequest>
}

export function sessionsClient(transport: Transport): SessionsClient {
  const at = (id: string, rest = ''): string => `/sessions/${encodeURIComponent(id)}${rest}`
  const sessions: SessionsClient = {
    list: (filter = {}) => transport.json({ path: '/sessions', query: { ...filter } }),
    get: (id) => transport.json({ path: at(id) }),
    start: (body, { trace } = {}) => transport.json({ method: 'POST', path: '/sessions/agent', body, trace }),
    prompt: (id, body, { trace } = {}) => transport.json({ method: 'POST', path: at(id, '/prompt'), body, trace }),
    promptAndWait: (id, request, options = {}) => promptAndWait(transport, request, { ...options, id }),
    waitTurn: (id, turn, options = {}) => waitTurn(sessions, turn, { ...options, id }),
    resume: (id, body = {}, { trace } = {}) => transport.json({ method: 'POST', path: at(id, '/resume'), body, trace }),
    configure: (id, body) => transport.json({ method: 'POST', path: at(id, '/config'), body }),
    fork: (id, body = {}) => transport.json({ method: 'POST', path: at(id, '/fork'), body }),
    interrupt: (id, body = {}) => transport.json({ method: 'POST', path: at(id, '/interrupt'), body }),
    kill: (id, body = {}) => transport.json({ method: 'POST', path: at(id, '/kill'), body }),
    remove: (id) => transport.json({ method: 'DELETE', path: at(id) }),
    async output(id, lastN) {
      const { lines } = await transport.json<{ lines: OutputLine[] }>({ path: at(id, '/output'), query: { lastN } })
      return lines
    },
    async turns(id, query = {}) {
      const { turns } = await transport.json<{ turns: Turn[] }>({ path: at(id, '/turns'), query: { ...query } })
      return turns
    },
    turn: (id, turn) => transport.json({ path: at(id, `/turns/${turn}`) }),
    events: (id, options = {}) => follow(transport, eventFeed(id, options)),
    eventsPage: (id, after = 0, limit) => transport.json({ path: at(id, '/events'), query: { after, limit } }),
    stream: (id, options = {}) => follow(transport, outputFeed(id, options)),
    async requests(id) {
      const { requests } = await transport.json<{ requests: SessionRequest[] }>({ path: at(id, '/requests') })
      return requests
    },
    answer: (id, requestId, body) =>
      transport.json({ method: 'POST', path: at(id, `/requests/${encodeURIComponent(requestId)}`), body }),
  }
  return sessions
}

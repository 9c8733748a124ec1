import type {
  OutputItem,
  OutputLine,
  SessionEvent,
  SessionRequest,
  TraceContext,
  Turn,
  TurnResult,
} from '@agentproto/contracts'
import type {
  AnswerRequest,
  ConfigRequest,
  DiscardWorktreeRequest,
  ForkRequest,
  InterruptRequest,
  KillReason,
  MergeWorktreeRequest,
  PromptRequest,
  RenameRequest,
  ResumeRequest,
  SessionFilter,
  SpawnAgentRequest,
  TurnQuery,
  WaitingQuery,
} from '@agentproto/contracts/wire'
import { allWaiting } from './all-waiting.js'
import type { FollowOptions } from './connection-state.js'
import { eventFeed, type FollowEventsOptions } from './event-feed.js'
import { follow } from './feed.js'
import { outputFeed, type FollowOutputOptions } from './output-feed.js'
import type { Transport } from './transport.js'
import { type AwaitedPrompt, promptAndWait, waitTurn } from './turn-wait.js'

export interface CallOptions {
  /** The trace that the call is part of; default: the client's. */
  readonly trace?: TraceContext
}

/** The sessions of a gateway. Every call that names a session can throw `session_not_found`. */
export type SessionsClient = ReturnType<typeof sessionsClient>

export function sessionsClient(transport: Transport) {
  const { call } = transport
  const sessions = {
    /** One page, newest first. */
    list: (query: SessionFilter = {}) => call('GET /sessions', { query }),
    get: (id: string) => call('GET /sessions/:id', { params: { id } }),
    /**
     * AIP-46 `POST /sessions/agent`; resolves when the session is running. With an `idempotencyKey` it is sent again if the
     * connection breaks.
     * @throws `adapter_not_found`, `no_adapter_installed`, `agent_not_installed`, `workspace_not_found`, `spawn_failed`, …
     */
    start: (body: SpawnAgentRequest, { trace }: CallOptions = {}) => call('POST /sessions/agent', { body, trace }),
    /** Resolves when it is accepted; the key is as for `start`. @throws `turn_in_progress`, `session_ended` */
    prompt: (id: string, body: Omit<PromptRequest, 'wait'>, { trace }: CallOptions = {}) =>
      call('POST /sessions/:id/prompt', { params: { id }, body, trace }),
    /**
     * Sends a prompt and waits for the end of its turn, however long it takes: it reads the events of the turn as they come,
     * so no time limit of an answer cuts it off, and it resumes after a dropped connection.
     * @throws as `prompt`; `cancelled` when `signal` aborts, which leaves the turn running
     */
    promptAndWait: (id: string, request: AwaitedPrompt, options: FollowOptions = {}): Promise<TurnResult> =>
      promptAndWait(transport, request, { ...options, id }),
    /** Waits for the end of a turn that was accepted before. @throws `turn_not_found`, `cancelled` */
    waitTurn: (id: string, turn: number, options: FollowOptions = {}): Promise<TurnResult> =>
      waitTurn(sessions, turn, { ...options, id }),
    /** Starts the agent again; `fresh`: in a new conversation. @throws `session_live`, `not_resumable` */
    resume: (id: string, body: ResumeRequest = {}, { trace }: CallOptions = {}) =>
      call('POST /sessions/:id/resume', { params: { id }, body, trace }),
    /** Sets mode, model and options. @throws `session_ended`, `not_supported`, `mode_unknown`, `option_invalid` */
    configure: (id: string, body: ConfigRequest) =>
      call('POST /sessions/:id/config', { params: { id }, body, repeat: true }),
    /** Gives a session another title or label; null removes it. @throws `label_in_use` */
    rename: (id: string, body: RenameRequest) => call('PATCH /sessions/:id', { params: { id }, body }),
    /** A new session whose agent knows the conversation so far. @throws `not_supported`, `turn_in_progress` */
    fork: (id: string, body: ForkRequest = {}) => call('POST /sessions/:id/fork', { params: { id }, body }),
    /** Ends the running turn and drops queued ones, or only the given one. Idempotent; resolves when it has ended. */
    interrupt: (id: string, body: InterruptRequest = {}) =>
      // Without a number, a second one could end the next turn.
      call('POST /sessions/:id/interrupt', { params: { id }, body, repeat: body.turn !== undefined }),
    /** Resolves when the whole process tree of the agent is gone. @throws `termination_failed` */
    kill: (id: string, body: { readonly reason?: KillReason } = {}) =>
      call('POST /sessions/:id/kill', { params: { id }, body }),
    /**
     * Merges the branch of its worktree into its base, all or nothing; uncommitted work is committed first.
     * @throws `not_supported` without a worktree, `turn_in_progress`, `folder_in_use`, `merge_conflict`, `checkout_dirty`
     */
    merge: (id: string, body: MergeWorktreeRequest = {}) =>
      call('POST /sessions/:id/worktree/merge', { params: { id }, body }),
    /** Deletes its worktree; with `force` also when work would be lost. @throws `session_live`, `worktree_unsaved` */
    discard: (id: string, body: DiscardWorktreeRequest = {}) =>
      call('POST /sessions/:id/worktree/discard', { params: { id }, body }),
    /** Ends the session if it is live, then deletes it and its log; a worktree with unsaved work is kept and named. */
    remove: (id: string) => call('DELETE /sessions/:id', { params: { id } }),
    /** The last lines of the output, at most 2 000, oldest first. */
    async output(id: string, lastN?: number): Promise<readonly OutputLine[]> {
      const { lines } = await call('GET /sessions/:id/output', { params: { id }, query: { lastN } })
      return lines
    },
    /** Turns that have begun, oldest first: at most 1 000, those after number `after`. */
    async turns(id: string, query: TurnQuery = {}): Promise<readonly Turn[]> {
      const { turns } = await call('GET /sessions/:id/turns', { params: { id }, query })
      return turns
    },
    /** One turn with its prompt and its output so far; or the queued prompt. @throws `turn_not_found` */
    turn: (id: string, turn: number) => call('GET /sessions/:id/turns/:turn', { params: { id, turn } }),
    /**
     * Follows the log: each event once and in order, resumed after a dropped connection. Ends with the session; stop earlier
     * through `signal`, which makes it throw `cancelled`.
     * @throws `daemon_not_running` if the gateway cannot be reached for `reconnectMs`
     */
    events: (id: string, options: FollowEventsOptions = {}): AsyncIterable<SessionEvent> =>
      follow(transport, eventFeed(id, options)),
    /** One page of the log, of events with `seq > after`. */
    eventsPage: (id: string, after = 0, limit?: number) =>
      call('GET /sessions/:id/events', { params: { id }, query: { after, limit } }),
    /** Follows lines, status changes and gaps; resumes as `events` does. */
    stream: (id: string, options: FollowOutputOptions = {}): AsyncIterable<OutputItem> =>
      follow(transport, outputFeed(id, options)),
    async requests(id: string): Promise<readonly SessionRequest[]> {
      const { requests } = await call('GET /sessions/:id/requests', { params: { id } })
      return requests
    },
    /** One page of the requests of all sessions that wait for a person, oldest first. */
    waiting: (query: WaitingQuery = {}) => call('GET /requests', { query }),
    /**
     * All requests of all sessions that wait for a person, oldest first, page by page.
     * @param onUnanswered called with each host of a fleet whose requests are missing
     */
    allWaiting: (onUnanswered?: Parameters<typeof allWaiting>[1]): Promise<readonly SessionRequest[]> =>
      allWaiting((query) => sessions.waiting(query), onUnanswered),
    /**
     * With `callRetryMs` it is sent again if the connection breaks; `request_resolved` may then mean that the first one arrived.
     * @throws `request_not_found`, `request_resolved`, `invalid_request`
     */
    answer: (id: string, requestId: string, body: AnswerRequest) =>
      call('POST /sessions/:id/requests/:requestId', {
        params: { id, requestId },
        body,
        repeat: transport.settings.callRetryMs > 0,
      }),
  }
  return sessions
}

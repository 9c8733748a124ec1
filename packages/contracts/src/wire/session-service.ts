import type { SessionBounds } from './session-bounds.js'
import type { WaitingQuery } from './waiting-query.js'
import type { AgentAnswer } from '../agent-request.js'
import type { EventBatch } from '../event-log.js'
import type { OutputItem } from '../output-line.js'
import type { Principal } from '../principal.js'
import type { Session, SessionFailure } from '../session.js'
import type {
  ConfigRequest,
  ForkRequest,
  InterruptRequest,
  KillReason,
  PromptRequest,
  RenameRequest,
  ResumeRequest,
  SessionFilter,
  SpawnAgentRequest,
  TurnQuery,
} from './requests.js'
import type {
  Forgotten,
  Interrupted,
  OutputLine,
  QueuedTurn,
  RequestPage,
  SessionPage,
  SessionRequest,
  Turn,
  TurnDetail,
  TurnResult,
} from './session-responses.js'

/** The sessions of a gateway. Calls are asynchronous and pass plain data: the registry can run in another process. */

/** Why a hook of the host ends a session; the stop reason is `hook_stopped`. Callers cannot give it. */
export interface HookStop {
  readonly hook: SessionFailure
}

/** Is read by pull: a slow reader costs and loses nothing. Its one caller ends it with `close`. */
export interface Reader<T> {
  /** The next batch, at once or when there is one; undefined at the end, when all of it was read. */
  next(signal?: AbortSignal): Promise<T | undefined>
  close(): void
}

/** Reads the log of a session; ends with it. */
export interface EventReader extends Reader<EventBatch> {
  /** Number of stored events that were not read yet, if known. */
  readonly behind?: number
}

export type OutputReader = Reader<readonly OutputItem[]>

/** Identifies one request of one session. */
export interface RequestKey {
  readonly id: string
  readonly requestId: string
}

/** A prompt that was accepted. */
export interface Prompted {
  readonly turn: number
  /** The end of its turn, where the request waits for it and it is known already; `waitTurn` says it in any case. */
  readonly result?: TurnResult
}

export interface SessionService {
  /**
   * AIP-46 `POST /sessions/agent`. Resolves when the session is running or, with a `prompt`, when that is
   * accepted.
   * @throws `adapter_not_found`, `no_adapter_installed`, `agent_not_installed`, `workspace_not_found`,
   * `cwd_invalid`, `session_limit_reached`, `spawn_failed`, `handshake_failed`, `shutting_down`, …
   */
  spawn(request: SpawnAgentRequest, by: Principal): Promise<Session>
  /** @param within The sessions that the caller may use; absent for all */
  list(filter?: SessionFilter, within?: SessionBounds): Promise<SessionPage>
  /** A session outside of `within` is not found. @throws `session_not_found`, as do all calls below that name one */
  get(id: string, within?: SessionBounds): Promise<Session>
  /**
   * Accepts one prompt: reserves the turn, logs the prompt, sends it.
   * @throws `turn_in_progress`, `session_ended`, `session_starting`, `storage_failed`
   */
  prompt(id: string, request: PromptRequest, by: Principal): Promise<Prompted>
  /** Waits for the end of a turn, also a past one. @throws `turn_not_found`, `cancelled` when `signal` aborts */
  waitTurn(id: string, turn: number, signal?: AbortSignal): Promise<TurnResult>
  /** Turns that have begun, oldest first: at most 1 000 at a time, those after number `after`. */
  turns(id: string, query?: TurnQuery): Promise<readonly Turn[]>
  /** One turn with its prompt and its bounded output so far; or the queued prompt. @throws `turn_not_found` */
  turn(id: string, turn: number): Promise<TurnDetail | QueuedTurn>
  /**
   * Starts the agent of an ended session again, in its conversation; `resumedHow` says how. A prompt to an ended session does
   * this first.
   * @throws `session_live`, `not_resumable`, and what `spawn` throws of the start
   */
  resume(id: string, request: ResumeRequest, by: Principal): Promise<Session>
  /**
   * Sets mode, model and options of the running agent, one after the other, until one is refused. The settings are restored
   * when the session is resumed.
   * @throws `session_ended`, `session_starting`, `not_supported`, `mode_unknown`, `option_invalid`
   */
  configure(id: string, request: ConfigRequest, by: Principal): Promise<Session>
  /**
   * Gives a session, live or ended, another title or label. A title that a person gave is not replaced by the agent's.
   * @throws `label_in_use` if another live session that the caller may use has the label
   */
  rename(id: string, request: RenameRequest, by: Principal): Promise<Session>
  /**
   * A new session in the same folder whose agent knows the conversation so far; the old one is unchanged.
   * @throws `not_supported` if the agent cannot fork, `turn_in_progress`, and what `spawn` throws of the start
   */
  fork(id: string, request: ForkRequest, by: Principal): Promise<Session>
  /**
   * Ends the running turn; queued prompts are never sent. With a `turn` only that one is ended, or never sent if it is queued;
   * the others continue. Idempotent; the session stays live. Resolves when the turn has ended, or is known never to be sent.
   */
  interrupt(id: string, by: Principal, request?: InterruptRequest): Promise<Interrupted>
  /** Resolves when its process tree is gone; `ok` is false if it was already gone. @throws `termination_failed` */
  kill(id: string, by: Principal, reason?: KillReason | HookStop): Promise<{ readonly ok: boolean }>
  /**
   * Kills the session if it is live, then deletes its record and its log, and a worktree of its own in which nothing would be
   * lost: any other is kept.
   */
  forget(id: string, by: Principal): Promise<Forgotten>
  /** The last lines of the ring (at most 2 000), oldest first. */
  output(id: string, lastN?: number): Promise<readonly OutputLine[]>
  /** One page of the log. */
  events(id: string, after: number, limit: number): Promise<EventBatch>
  /** Follows the log after `after`, including future events. */
  follow(id: string, after: number): Promise<EventReader>
  /** Follows the output after `cursor`; without one from the start of the ring. */
  followOutput(id: string, cursor?: string): Promise<OutputReader>
  /** The requests of a session, newest last. */
  requests(id: string): Promise<readonly SessionRequest[]>
  /**
   * One page of the requests that wait for a person in all sessions within bounds, oldest first: pending ones, and interrupted
   * ones whose session can be resumed.
   */
  waiting(query?: WaitingQuery, within?: SessionBounds): Promise<RequestPage>
  /**
   * Answers a request once. With `remember` the answer also becomes a rule.
   * @throws `request_not_found`, `request_resolved` (naming who answered), `request_interrupted`, `invalid_request`
   */
  answer(which: RequestKey, answer: AgentAnswer, by: Principal): Promise<SessionRequest>
  /** Changes of all sessions within bounds. */
  watch(within?: SessionBounds): SessionWatcher
}

/** Reads the changes of all sessions. A slow reader gets the latest record of each session, not every change. */
export interface SessionWatcher extends Reader<readonly SessionChange[]> {
  /** Whether it ended because too many changes waited for its reader, who then watches again and lists all sessions. */
  readonly fellBehind?: boolean
}

export type SessionChange =
  | { readonly type: 'session'; readonly session: Session }
  | { readonly type: 'forgotten'; readonly id: string }

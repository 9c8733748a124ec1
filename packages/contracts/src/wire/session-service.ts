import type { SessionBounds } from './access.js'
import type { AgentAnswer, SessionRequest } from '../agent-request.js'
import type { EventBatch, EventRecord } from '../event-log.js'
import type { OutputItem, OutputLine } from '../output-line.js'
import type { Principal } from '../principal.js'
import type { Session, SessionFailure, StopReason } from '../session.js'
import type { QueuedTurn, Turn, TurnDetail, TurnResult } from '../turn.js'
import type {
  ConfigRequest,
  ForkRequest,
  InterruptRequest,
  PromptRequest,
  ResumeRequest,
  SessionFilter,
  SpawnAgentRequest,
  TurnQuery,
} from './requests.js'

/**
 * The registry as HTTP, MCP and the command line see it. Every call is asynchronous and passes plain
 * data, so that the registry can live in another process.
 */

/** What an interrupt came upon. */
export interface Interrupted {
  /** Whether there was something to end: a turn that ran or, where it was named, one that waited. */
  readonly wasBusy: boolean
  /** The turn that was named waited, and is never sent; its end is logged when its place in the queue has come. */
  readonly sent?: false
}

export interface SessionPage {
  readonly sessions: readonly Session[]
  readonly nextCursor?: string
}

/** The reasons that a caller may give for a kill. */
export type KillReason = Extract<StopReason, 'user_canceled' | 'max_iterations' | 'loop_detected' | 'budget_exceeded'>

/** Why a hook of the host itself ends a session; the stop reason is `hook_stopped`. No caller can say it. */
export interface HookStop {
  readonly hook: SessionFailure
}

/**
 * A reader of one session's log that pulls: a slow one costs nothing and loses nothing. One reader has
 * one caller; end it with `close`.
 */
export interface EventReader {
  /** Stored events that were not handed out yet, where that is known. */
  readonly behind?: number
  /**
   * The next batch: at once what is there, else when something comes.
   * @returns undefined at the end: the session has ended and every event was handed out
   */
  next(signal?: AbortSignal): Promise<EventBatch | undefined>
  close(): void
}

export interface OutputReader {
  next(signal?: AbortSignal): Promise<readonly OutputItem[] | undefined>
  close(): void
}

/** Names one request of one session. */
export interface RequestKey {
  readonly id: string
  readonly requestId: string
}

export interface SessionService {
  /**
   * AIP-46 `POST /sessions/agent`. Resolves when the session is running; with a `prompt`, once that
   * prompt is admitted.
   * @throws `adapter_not_found`, `no_adapter_installed`, `agent_not_installed`, `workspace_not_found`,
   * `cwd_invalid`, `session_limit_reached`, `spawn_failed`, `handshake_failed`, `shutting_down`, …
   */
  spawn(request: SpawnAgentRequest, by: Principal): Promise<Session>
  /** @param within Only those that the caller reaches; absent for all */
  list(filter?: SessionFilter, within?: SessionBounds): Promise<SessionPage>
  /**
   * @param within A session outside of it is not found, as if it were not there
   * @throws `session_not_found`; so does every call below that names a session
   */
  get(id: string, within?: SessionBounds): Promise<Session>
  /**
   * Admits one prompt: reserves the turn, logs it, sends it.
   * @throws `turn_in_progress`, `session_ended`, `session_starting`, `storage_failed`
   */
  prompt(id: string, request: PromptRequest, by: Principal): Promise<{ readonly turn: number }>
  /**
   * Waits for the end of one turn; misses neither a turn that is over nor matches an older one.
   * @throws `turn_not_found`, `cancelled` when `signal` aborts
   */
  waitTurn(id: string, turn: number, signal?: AbortSignal): Promise<TurnResult>
  /** Turns that have begun, oldest first: at most 1 000 at a time, those after number `after`. */
  turns(id: string, query?: TurnQuery): Promise<readonly Turn[]>
  /**
   * One turn with its prompt and what it has put out so far, bounded; or the prompt that waits for its turn.
   * @throws `turn_not_found`
   */
  turn(id: string, turn: number): Promise<TurnDetail | QueuedTurn>
  /**
   * Starts the agent of a session that has ended again, in its old conversation; `resumedHow` says how.
   * A prompt to such a session does the same first.
   * @throws `session_live`, `not_resumable`, and what `spawn` throws of the start
   */
  resume(id: string, request: ResumeRequest, by: Principal): Promise<Session>
  /**
   * Sets mode, model and options of the running agent, one after the other; the first that is refused ends it. What was
   * set is set again when the session is resumed.
   * @throws `session_ended`, `session_starting`, `not_supported`, `mode_unknown`, `option_invalid`
   */
  configure(id: string, request: ConfigRequest, by: Principal): Promise<Session>
  /**
   * A new session in the same place whose agent knows what was said so far; the old one goes on unchanged.
   * @throws `not_supported` where the agent cannot, `turn_in_progress`, and what `spawn` throws of the start
   */
  fork(id: string, request: ForkRequest, by: Principal): Promise<Session>
  /**
   * Ends the running turn, and what waits behind it is never sent. With a `turn` it is that one alone: where that runs,
   * what waits goes on; where it is queued, it is never sent. Idempotent; the session lives on. Resolves once the turn
   * has ended, or is known to be never sent.
   */
  interrupt(id: string, by: Principal, request?: InterruptRequest): Promise<Interrupted>
  /**
   * Resolves after the whole process tree is gone; `ok` is false when it was gone already.
   * @throws `termination_failed`
   */
  kill(id: string, by: Principal, reason?: KillReason | HookStop): Promise<{ readonly ok: boolean }>
  /** Kills where needed, then deletes the record and the log. */
  forget(id: string, by: Principal): Promise<void>
  /** The last lines of the ring (at most 2 000), oldest first. */
  output(id: string, lastN?: number): Promise<readonly OutputLine[]>
  /** One page of the log. */
  events(id: string, after: number, limit: number): Promise<EventBatch>
  /** Follows the log after `after`, past what is there now. */
  follow(id: string, after: number): Promise<EventReader>
  /** Follows the projection after `cursor`, from the start of the ring without one. */
  followOutput(id: string, cursor?: string): Promise<OutputReader>
  /**
   * What a session's agent has asked, the newest last; without an id, what waits for a person in the sessions
   * within bounds: pending requests, and interrupted ones whose session can be resumed.
   */
  requests(id?: string, within?: SessionBounds): Promise<readonly SessionRequest[]>
  /**
   * Answers a request once. With `remember`, the answer becomes a rule as well.
   * @throws `request_not_found`, `request_resolved` (naming who answered), `request_interrupted`, `invalid_request`
   */
  answer(which: RequestKey, answer: AgentAnswer, by: Principal): Promise<SessionRequest>
  /** Status changes of all sessions within bounds, for lists that live. */
  watch(within?: SessionBounds): SessionWatcher
}

/** A reader of all sessions' changes. A reader that lags gets each session's latest record, not every step. */
export interface SessionWatcher {
  next(signal?: AbortSignal): Promise<readonly SessionChange[] | undefined>
  close(): void
}

export type SessionChange =
  | { readonly type: 'session'; readonly session: Session }
  | { readonly type: 'forgotten'; readonly id: string }

/** Convenience of readers: whether a record ends a run of the agent. */
export const isTerminalRecord = (record: EventRecord): boolean => record.type === 'session-stopped'

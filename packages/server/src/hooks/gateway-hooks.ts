import type { AgentRequest, ContentBlock, Principal, Session, SessionEvent } from '@agentproto/contracts'
import type { AnswerRequest, SpawnAgentRequest } from '@agentproto/contracts/wire'

/** What an embedder observes, changes or denies. Each call of a hook has a time limit, `timeoutMs`. */
export interface GatewayHooks {
  /**
   * Called before a session is created, over every surface, also for a fork. Change the request with `request`, or reject it with
   * `deny`. Fails closed: if the hook throws or times out, the request is rejected.
   */
  readonly beforeSpawn?: Hook<SpawnAttempt, { readonly request: SpawnAgentRequest } | HookDenial>
  /**
   * Called before a prompt is accepted; for the prompt of a spawn, before the session is created. Change it with `prompt`, or
   * reject it with `deny`. Fails closed, as `beforeSpawn` does.
   */
  readonly beforePrompt?: Hook<
    PromptAttempt,
    { readonly prompt: readonly ContentBlock[] } | (HookDenial & { readonly stop?: boolean })
  >
  /**
   * Called when an agent asks for a permission or an answer, before rules, modes and people. Answer it, or deny it with a reason
   * that the agent gets. If the hook throws or times out, only a person can answer the request.
   */
  readonly onRequest?: Hook<
    RequestAsked,
    { readonly answer: AnswerRequest } | (HookDenial & { readonly stop?: boolean })
  >
  /**
   * Called with every event of every session from now on, in the order of its log, after it was stored. A slow hook delays no
   * turn. Fails open; a hook that times out again and again gets no more events.
   */
  readonly onEvent?: Hook<SessionEvent, void>
  /** Time limit of one call of a hook, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number
}

/** Returns undefined to accept the request unchanged. */
export type Hook<T, V> = (about: T, context: HookContext) => V | undefined | Promise<V | undefined>

export interface HookContext {
  /** Aborts when the time limit is reached. */
  readonly signal: AbortSignal
}

/** The caller, or the agent, gets the reason. */
export interface HookDenial {
  readonly deny: string
}

export interface SpawnAttempt {
  readonly request: SpawnAgentRequest
  readonly by: Principal
  /** The session that is forked; only `prompt`, `label` and `title` of a changed request are used then. */
  readonly forkOf?: Session
}

export interface PromptAttempt {
  readonly prompt: readonly ContentBlock[]
  readonly by: Principal
  /** Absent for the prompt of a spawn. */
  readonly session?: Session
}

export interface RequestAsked {
  readonly session: Session
  readonly request: AgentRequest
}

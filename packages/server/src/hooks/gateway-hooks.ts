import type {
  AgentRequest,
  AnswerRequest,
  ContentBlock,
  Principal,
  Session,
  SessionEvent,
  SpawnAgentRequest,
} from '@agentproto/contracts'

/**
 * What an embedding host may look at, change or deny. Each is given its time (`timeoutMs`), and what becomes of it
 * when it throws or takes longer is said with it; nobody's call hangs on a hook for ever.
 */
export interface GatewayHooks {
  /**
   * Before a session is made, over every surface, forks too. Amend it with `request`, or deny it: nothing is made
   * then. Fails closed: what guards a door must not open it by breaking, and the caller is told at once.
   */
  readonly beforeSpawn?: Hook<SpawnAttempt, { readonly request: SpawnAgentRequest } | HookDenial>
  /**
   * Before a prompt is admitted, that of a spawn too (before anything is made). Amend it with `prompt`, or deny it.
   * Fails closed, as `beforeSpawn` does.
   */
  readonly beforePrompt?: Hook<
    PromptAttempt,
    { readonly prompt: readonly ContentBlock[] } | (HookDenial & { readonly stop?: boolean })
  >
  /**
   * When an agent asks, before any rule, mode or person sees it. Answer it, or deny it with a reason that the agent
   * is told. Fails towards people: no rule and no mode answers the request any more, a person has to.
   */
  readonly onRequest?: Hook<
    RequestAsked,
    { readonly answer: AnswerRequest } | (HookDenial & { readonly stop?: boolean })
  >
  /**
   * Told of every event of every session from now on, in the order of its log, after it was stored. Reads as a
   * follower does: however slow it is, no turn waits for it. Fails open; one that hangs again and again is let go.
   */
  readonly onEvent?: Hook<SessionEvent, void>
  /** How long one call of a hook may take, in milliseconds. Default 10 000. */
  readonly timeoutMs?: number
}

/** Undefined lets it pass as it is. */
export type Hook<T, V> = (about: T, context: HookContext) => V | undefined | Promise<V | undefined>

export interface HookContext {
  /** Aborts when nobody waits for the hook any more. */
  readonly signal: AbortSignal
}

/** The caller, or the agent, is told the reason. */
export interface HookDenial {
  readonly deny: string
}

export interface SpawnAttempt {
  readonly request: SpawnAgentRequest
  readonly by: Principal
  /** The session that is to be forked; of an amendment `prompt`, `label` and `title` count then. */
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

import {
  type AgentAnswer,
  AgentprotoError,
  type AgentRequest,
  type Clock,
  type ContentBlock,
  defined,
  type Principal,
  type Session,
} from '@agentproto/contracts'
import {
  type ForkRequest,
  parseWire,
  type PromptRequest,
  promptSchema,
  type SessionService,
  type SpawnAgentRequest,
  spawnAgentSchema,
  toAgentAnswer,
} from '@agentproto/contracts/wire'
import { wrapMethods } from '../wrap-methods.js'
import { EventHook } from './event-hook.js'
import type { GatewayHooks, Hook, PromptAttempt, SpawnAttempt } from './gateway-hooks.js'
import { withTimeLimit } from './time-limit.js'

const DEFAULT_TIMEOUT_MS = 10_000

export interface HooksOptions {
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
}

/** The decision about a request of an agent; undefined leaves it to rules and modes. */
export type RequestVerdict =
  | { readonly answer: AgentAnswer }
  | { readonly deny: string }
  | { readonly person: true }
  | undefined

/** The hooks of one gateway. */
export class Hooks {
  readonly #hooks: GatewayHooks
  readonly #options: HooksOptions & { readonly timeoutMs: number }
  #sessions: SessionService | undefined
  #events: EventHook | undefined

  constructor(hooks: GatewayHooks, options: HooksOptions) {
    this.#hooks = hooks
    this.#options = { ...options, timeoutMs: hooks.timeoutMs ?? DEFAULT_TIMEOUT_MS }
  }

  /** The same service; `beforeSpawn` and `beforePrompt` see its requests first, and `onEvent` gets its events from now on. */
  async wrap(sessions: SessionService): Promise<SessionService> {
    this.#sessions = sessions
    const { onEvent } = this.#hooks
    if (onEvent !== undefined) {
      this.#events = new EventHook(onEvent, { ...this.#options, sessions })
      await this.#events.start()
    }
    return {
      ...wrapMethods(sessions, (_name, method) => method),
      spawn: async (request, by) => sessions.spawn(await this.#spawn({ request, by }), by),
      prompt: async (id, request, by) => sessions.prompt(id, await this.#promptOf(id, request, by), by),
      fork: async (id, request, by) => sessions.fork(id, await this.#fork(id, request, by), by),
    }
  }

  /** Waits until `onEvent` has had its last events, or a moment has passed. Idempotent. */
  async close(): Promise<void> {
    await this.#events?.close()
  }

  /** Asks `onRequest` about a request of an agent; see {@link GatewayHooks.onRequest}. */
  readonly gate = async (session: Session, request: AgentRequest): Promise<RequestVerdict> => {
    const { onRequest } = this.#hooks
    if (onRequest === undefined) return undefined
    try {
      const verdict = await this.#call(onRequest, { session, request })
      if (verdict === undefined) return undefined
      if ('answer' in verdict) return { answer: toAgentAnswer(verdict.answer) }
      if (verdict.stop === true) this.#stop(session.id, verdict.deny)
      return { deny: verdict.deny }
    } catch (error) {
      this.#failed('onRequest', error)
      return { person: true }
    }
  }

  async #spawn(attempt: SpawnAttempt): Promise<SpawnAgentRequest> {
    const { beforeSpawn } = this.#hooks
    const verdict = beforeSpawn && (await this.#callClosed('beforeSpawn', beforeSpawn, attempt))
    if (verdict !== undefined && 'deny' in verdict) throw denied(verdict.deny)
    const request =
      verdict === undefined
        ? attempt.request
        : amended('beforeSpawn', () => parseWire(spawnAgentSchema, verdict.request, 'request'))
    if (request.prompt === undefined) return request
    const prompt = await this.#prompt({ prompt: blocksOf(request.prompt), by: attempt.by }, request.prompt)
    return { ...request, prompt }
  }

  async #fork(id: string, request: ForkRequest, by: Principal): Promise<ForkRequest> {
    const forkOf = await this.#session(id)
    const { adapterSlug: adapter, cwd } = forkOf
    const { prompt, label, title } = await this.#spawn({ request: { adapter, cwd, ...request }, by, forkOf })
    return defined({ prompt, label, title })
  }

  async #promptOf(id: string, request: PromptRequest, by: Principal): Promise<PromptRequest> {
    if (this.#hooks.beforePrompt === undefined) return request
    const attempt = { session: await this.#session(id), prompt: blocksOf(request.prompt), by }
    return { ...request, prompt: await this.#prompt(attempt, request.prompt) }
  }

  async #prompt(attempt: PromptAttempt, given: PromptRequest['prompt']): Promise<PromptRequest['prompt']> {
    const { beforePrompt } = this.#hooks
    const verdict = beforePrompt && (await this.#callClosed('beforePrompt', beforePrompt, attempt))
    if (verdict === undefined) return given
    if ('prompt' in verdict) return amended('beforePrompt', () => parseWire(promptSchema, verdict.prompt, 'prompt'))
    if (verdict.stop === true && attempt.session !== undefined) this.#stop(attempt.session.id, verdict.deny)
    throw denied(verdict.deny)
  }

  /** Calls a hook that fails closed. */
  async #callClosed<T, V>(name: string, hook: Hook<T, V>, about: T): Promise<V | undefined> {
    try {
      return await this.#call(hook, about)
    } catch (error) {
      this.#failed(name, error)
      throw new AgentprotoError('hook_stopped', `The hook ${name} of this gateway failed, so the request is rejected`, {
        hint: 'The log of the gateway has the error',
        cause: error,
      })
    }
  }

  #call<T, V>(hook: Hook<T, V>, about: T): Promise<V | undefined> {
    return withTimeLimit((context) => hook(about, context), this.#options)
  }

  /** Later, so that the answer that denies reaches the agent first. */
  #stop(id: string, summary: string): void {
    setImmediate(() => {
      const stopped = this.#sessions?.kill(id, HOST, { hook: { kind: 'permission_failure', summary } })
      stopped?.catch((error: unknown) => this.#failed('stop', error))
    })
  }

  #session(id: string): Promise<Session> {
    if (this.#sessions === undefined) throw new Error('The hooks have no sessions yet')
    return this.#sessions.get(id)
  }

  #failed(name: string, error: unknown): void {
    this.#options.onProblem(`hook ${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** The caller of what a hook does itself. */
const HOST: Principal = { type: 'owner', name: 'hook' }

const denied = (reason: string): AgentprotoError =>
  new AgentprotoError('hook_stopped', `A hook of this gateway denied it: ${reason.slice(0, 500)}`)

/** What a hook returns is parsed by the same schema as what a caller sends. */
function amended<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error)
    throw new AgentprotoError('hook_stopped', `The hook ${name} returned an invalid request: ${what}`)
  }
}

const blocksOf = (prompt: PromptRequest['prompt']): readonly ContentBlock[] =>
  typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt

import {
  AgentprotoError,
  type AgentRequest,
  type Clock,
  type ContentBlock,
  type ForkRequest,
  parseWire,
  type Principal,
  type PromptRequest,
  promptSchema,
  type Session,
  type SpawnAgentRequest,
  spawnAgentSchema,
  toAgentAnswer,
} from '@agentproto/contracts'
import type { GateVerdict, SessionRegistry } from '@agentproto/session-registry'
import { inOrder } from '../in-order.js'
import { overridden } from '../agents/overridden.js'
import { EventTap } from './event-tap.js'
import type { GatewayHooks, Hook, PromptAttempt, SpawnAttempt } from './gateway-hooks.js'
import { withinTime } from './within-time.js'

const DEFAULT_TIMEOUT_MS = 10_000

interface Around {
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
}

/** The hooks of one gateway, between whoever calls and its registry. */
export class HookHost {
  readonly #hooks: GatewayHooks
  readonly #around: Around
  readonly #timeoutMs: number
  #tap: EventTap | undefined
  #registry: SessionRegistry | undefined

  constructor(hooks: GatewayHooks, around: Around) {
    this.#hooks = hooks
    this.#around = around
    this.#timeoutMs = hooks.timeoutMs ?? DEFAULT_TIMEOUT_MS
  }

  /** What of a registry is guarded; the rest is as it was. */
  async guard(registry: SessionRegistry): Promise<SessionRegistry> {
    this.#registry = registry
    const { onEvent } = this.#hooks
    if (onEvent !== undefined) {
      this.#tap = new EventTap(onEvent, { ...this.#around, sessions: registry, timeoutMs: this.#timeoutMs })
      await this.#tap.start()
    }
    return overridden(registry, {
      spawn: async (request, by) => registry.spawn(await this.#spawn({ request, by }), by),
      prompt: async (id, request, by) => registry.prompt(id, await this.#promptOf(id, request, by), by),
      fork: async (id, request, by) => registry.fork(id, await this.#fork(id, request, by), by),
      close: () => inOrder([() => registry.close(), () => this.#tap?.close()]),
    })
  }

  /** Looks at what an agent asks; see {@link GatewayHooks.onRequest}. */
  readonly gate = async (session: Session, request: AgentRequest): Promise<GateVerdict> => {
    const { onRequest } = this.#hooks
    if (onRequest === undefined) return undefined
    try {
      const verdict = await this.#call(onRequest, { session, request })
      if (verdict === undefined) return undefined
      if ('answer' in verdict) return { answer: toAgentAnswer(verdict.answer) }
      if (verdict.stop === true) this.#stop(session.id, verdict.deny)
      return { deny: verdict.deny }
    } catch (thrown) {
      this.#failed('onRequest', thrown)
      return { person: true }
    }
  }

  async #spawn(attempt: SpawnAttempt): Promise<SpawnAgentRequest> {
    const { by } = attempt
    const { beforeSpawn } = this.#hooks
    const verdict = beforeSpawn && (await this.#closed('beforeSpawn', beforeSpawn, attempt))
    if (verdict !== undefined && 'deny' in verdict) throw denied(verdict.deny)
    const request =
      verdict === undefined
        ? attempt.request
        : amended('beforeSpawn', () => parseWire(spawnAgentSchema, verdict.request, 'request'))
    if (request.prompt === undefined) return request
    return { ...request, prompt: await this.#prompt({ prompt: blocksOf(request.prompt), by }, request.prompt) }
  }

  async #fork(id: string, request: ForkRequest, by: Principal): Promise<ForkRequest> {
    const forkOf = await this.#session(id)
    const { adapterSlug: adapter, cwd } = forkOf
    const { prompt, label, title } = await this.#spawn({ request: { adapter, cwd, ...request }, by, forkOf })
    return {
      ...(prompt === undefined ? {} : { prompt }),
      ...(label === undefined ? {} : { label }),
      ...(title === undefined ? {} : { title }),
    }
  }

  async #promptOf(id: string, request: PromptRequest, by: Principal): Promise<PromptRequest> {
    if (this.#hooks.beforePrompt === undefined) return request
    const attempt = { session: await this.#session(id), prompt: blocksOf(request.prompt), by }
    return { ...request, prompt: await this.#prompt(attempt, request.prompt) }
  }

  async #prompt(attempt: PromptAttempt, given: PromptRequest['prompt']): Promise<PromptRequest['prompt']> {
    const { beforePrompt } = this.#hooks
    const verdict = beforePrompt && (await this.#closed('beforePrompt', beforePrompt, attempt))
    if (verdict === undefined) return given
    if ('prompt' in verdict) return amended('beforePrompt', () => parseWire(promptSchema, verdict.prompt, 'prompt'))
    if (verdict.stop === true && attempt.session !== undefined) this.#stop(attempt.session.id, verdict.deny)
    throw denied(verdict.deny)
  }

  /** Calls a hook that fails closed. */
  async #closed<T, V>(name: string, hook: Hook<T, V>, about: T): Promise<V | undefined> {
    try {
      return await this.#call(hook, about)
    } catch (thrown) {
      this.#failed(name, thrown)
      throw new AgentprotoError('hook_stopped', `The hook ${name} of this gateway failed, so it is refused`, {
        hint: 'The log of the gateway says how it failed',
        cause: thrown,
      })
    }
  }

  #call<T, V>(hook: Hook<T, V>, about: T): Promise<V | undefined> {
    return withinTime((context) => hook(about, context), { clock: this.#around.clock, timeoutMs: this.#timeoutMs })
  }

  /** The answer that refuses comes first: an agent that is being ended hears nothing more. */
  #stop(id: string, summary: string): void {
    setImmediate(() => {
      const stopped = this.#registry?.kill(id, HOST, { hook: { kind: 'permission_failure', summary } })
      stopped?.catch((thrown: unknown) => this.#failed('stop', thrown))
    })
  }

  #session(id: string): Promise<Session> {
    if (this.#registry === undefined) throw new Error('No registry is guarded')
    return this.#registry.get(id)
  }

  #failed(name: string, thrown: unknown): void {
    this.#around.onProblem(`hook ${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
  }
}

/** Who a hook acts as. */
const HOST: Principal = { type: 'owner', name: 'hook' }

const denied = (reason: string): AgentprotoError =>
  new AgentprotoError('hook_stopped', `A hook of this gateway denied it: ${reason.slice(0, 500)}`)

/** What a hook made of a request is held to the same schema as what a caller sends. */
function amended<T>(name: string, parse: () => T): T {
  try {
    return parse()
  } catch (thrown) {
    const what = thrown instanceof Error ? thrown.message : String(thrown)
    throw new AgentprotoError('hook_stopped', `The hook ${name} made something of it that is not valid: ${what}`)
  }
}

const blocksOf = (prompt: PromptRequest['prompt']): readonly ContentBlock[] =>
  typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt

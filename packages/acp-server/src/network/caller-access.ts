import {
  AgentprotoError,
  isAgentprotoError,
  type Principal,
  type Session,
  type TraceContext,
} from '@agentproto/contracts'
import {
  ACP_METHODS,
  type AcpMethod,
  assertMayUse,
  boundsOf,
  mayUse,
  type SessionBounds,
} from '@agentproto/contracts/wire'
import type { AcpCaller } from '@agentproto/contracts/wire'
import type { AcpEndpointDeps } from './acp-endpoint.js'

/** What the caller of a connection may do: by the scope of each method, its bounds, and the agent of the path. */
export class CallerAccess {
  readonly #deps: Pick<AcpEndpointDeps, 'sessions' | 'onRefused'>
  readonly #caller: AcpCaller

  constructor(deps: Pick<AcpEndpointDeps, 'sessions' | 'onRefused'>, caller: AcpCaller) {
    this.#deps = deps
    // The trace of the request that opened the connection is not that of what is done on it later.
    const { trace: _, ...by } = caller.by
    this.#caller = { ...caller, by }
  }

  /** The agent whose sessions alone exist here; undefined for all. */
  get agent(): string | undefined {
    return this.#caller.agent
  }

  /** Whether its answers to requests of a session's agent count. An agent may not answer itself. */
  mayAnswer(sessionId: string): boolean {
    const { by } = this.#caller
    const isItself = by.type === 'session' && by.sessionId === sessionId
    return !isItself && mayUse(by, ACP_METHODS['session/request_permission'])
  }

  /** The principal of a call. @throws `forbidden`, `delegation_denied` */
  by(method: AcpMethod, trace?: TraceContext): Principal {
    const { by, agent } = this.#caller
    try {
      assertMayUse(by, ACP_METHODS[method])
    } catch (refusal) {
      const path = agent === undefined ? '/acp' : `/acp/${agent}`
      if (isAgentprotoError(refusal)) this.#deps.onRefused?.({ code: refusal.code, by, method, path })
      throw refusal
    }
    return trace === undefined ? by : { ...by, trace }
  }

  /** The sessions that a method may use; undefined for all. */
  within(method: AcpMethod): SessionBounds | undefined {
    return boundsOf(this.#caller.by, ACP_METHODS[method])
  }

  /** The session for a method. @throws `session_not_found` also for one that does not exist for the caller; as `by` */
  async session(method: AcpMethod, id: string): Promise<Session> {
    this.by(method)
    const session = await this.#deps.sessions.get(id, this.within(method))
    if (this.agent === undefined || session.adapterSlug === this.agent) return session
    throw new AgentprotoError('session_not_found', 'Session not found', { given: id })
  }

  /** The principal of a call for a session that exists for it. @throws as `session` */
  async reach(method: AcpMethod, id: string, trace?: TraceContext): Promise<Principal> {
    const by = this.by(method, trace)
    if (this.agent !== undefined || this.within(method) !== undefined) await this.session(method, id)
    return by
  }
}

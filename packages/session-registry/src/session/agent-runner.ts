import type { AgentSink, RunningAgent } from '@agentproto/contracts/agent'
import { keptFailure } from '../lifecycle/crash-bundle.js'
import { endAll } from '../lifecycle/end-all.js'
import { type Ending, messageOf } from '../lifecycle/ending.js'
import type { SessionHost } from '../session-host.js'
import { startAgent } from './agent-start.js'
import type { Input } from './input.js'
import type { SessionHandle } from './session-handle.js'
import type { Outgoing } from './queued-prompt.js'
import type { StartEffect } from './state.js'

/** Carries out what the session decides about its agent. What takes time is posted to the session when it is over. */
export class AgentRunner {
  readonly #session: SessionHandle
  readonly #host: SessionHost
  agent: RunningAgent | undefined
  #abort = new AbortController()
  /** Resolves when no start is under way, however it went. */
  starting: Promise<void> = Promise.resolve()

  constructor(session: SessionHandle, host: SessionHost) {
    this.#session = session
    this.#host = host
  }

  start(effect: StartEffect): void {
    this.agent = undefined
    this.#abort = new AbortController()
    this.starting = startAgent(this.#session, this.#host, {
      ...effect,
      sink: this.#sink(),
      signal: this.#abort.signal,
      attach: (agent) => this.#attach(agent),
    })
  }

  abortStart(): void {
    this.#abort.abort()
  }

  async send(turn: number, { content, trace }: Outgoing): Promise<void> {
    const agent = this.agent
    let failure = {}
    try {
      await agent?.send(content, trace)
    } catch (thrown) {
      failure = { error: messageOf(thrown) }
    }
    if (agent === this.agent) await this.#session.post({ type: 'send-settled', turn, ...failure })
  }

  /** A cancel that fails is a dying agent, which ends the turn by itself; the grace covers the rest. */
  cancel(): void {
    void this.agent?.cancel().catch(() => undefined)
  }

  /** Ends the agent with its children, and keeps what explains a failure. */
  async stop(cause: Ending): Promise<void> {
    await this.#session.post(await this.#stopped(cause))
  }

  async #stopped(cause: Ending): Promise<Input> {
    const { id } = this.#session
    // The agent may start nothing more, and what it started ends with it: as it does, if it was ended.
    this.#host.onAgentEnding?.(id)
    const children = endAll(this.#host.childrenOf(id), cause.status === 'killed' ? cause.stopReason : 'shutdown')
    try {
      const exit = (await this.agent?.stop()) ?? {}
      await children
      const at = new Date(this.#host.clock.now()).toISOString()
      const facts = { session: this.#session.snapshot(), process: this.agent?.process, exit, at }
      this.agent = undefined
      return { type: 'agent-stopped', exit, failure: await keptFailure(cause, this.#host, facts) }
    } catch (error) {
      return { type: 'stop-failed', error }
    }
  }

  /** How a former agent ends does not matter to the session of the next one. */
  #attach(agent: RunningAgent): void {
    this.agent = agent
    void agent.ended.then((end) =>
      this.agent === agent ? this.#session.post({ type: 'agent-ended', end }) : undefined,
    )
  }

  /** What a former agent emits does not matter to the session of the next one. */
  #sink(): AgentSink {
    const { signal } = this.#abort
    return {
      emit: (batch) => (signal === this.#abort.signal ? this.#session.post({ type: 'signals', batch }) : undefined),
      ask: (request, withdrawal) => {
        if (signal !== this.#abort.signal) return Promise.resolve({ outcome: 'cancelled' })
        const requestId = this.#host.newId('r_')
        const withdraw = (): void => void this.#session.post({ type: 'withdrawn', requestId })
        const answered = this.#session.call('asked', { requestId, request })
        if (withdrawal.aborted) withdraw()
        else withdrawal.addEventListener('abort', withdraw, { once: true })
        return answered.finally(() => withdrawal.removeEventListener('abort', withdraw))
      },
    }
  }
}

import type { AgentAnswer } from '@agentproto/contracts'
import type { AgentSink, RunningAgent } from '@agentproto/contracts/agent'
import { AdoptionSink, type AskedAgain } from '../adoption/adoption-sink.js'
import { keptFailure } from '../lifecycle/crash-bundle.js'
import { endAll } from '../lifecycle/end-all.js'
import { type Ending, messageOf } from '../lifecycle/ending.js'
import type { SessionHost } from '../session-host.js'
import { adoptAgent } from './agent-adoption.js'
import { startAgent } from './agent-start.js'
import type { Input } from './input.js'
import type { SessionHandle } from './session-handle.js'
import type { Outgoing } from './queued-prompt.js'
import type { AdoptEffect, StartEffect } from './state.js'

/** Carries out what the session decides about its agent. What takes time is posted to the session when it is over. */
export class AgentRunner {
  readonly #session: SessionHandle
  readonly #host: SessionHost
  agent: RunningAgent | undefined
  #abort = new AbortController()
  #isLeft = false
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

  /** Goes on with the agent of an earlier host. */
  adopt({ call, place }: AdoptEffect): void {
    this.agent = undefined
    this.#abort = new AbortController()
    const { signal } = this.#abort
    const sink = new AdoptionSink({
      ...this.#sink(),
      askAgain: (again, withdrawal) => this.#askAgain(again, withdrawal),
      differ: (detail, turn) => (this.#isLeft ? NEVER : this.#session.post({ type: 'differs', detail, turn })),
    })
    void adoptAgent(this.#session, this.#host, {
      call,
      place,
      sink,
      signal,
      isLeft: () => this.#isLeft,
      attach: (agent) => this.#attach(agent, sink),
    })
  }

  /** Leaves the agent to the next host: what it emits from now on is not handled here, so that it stays kept. */
  leave(): void {
    this.#isLeft = true
  }

  abortStart(): void {
    this.#abort.abort()
  }

  async send(turn: number, { content, trace }: Outgoing): Promise<void> {
    // The next host sends it: the log has it.
    if (this.#isLeft) return
    const agent = this.agent
    let failure = {}
    try {
      await agent?.send(content, trace)
    } catch (thrown) {
      failure = { error: messageOf(thrown) }
    }
    if (agent === this.agent && !this.#isLeft) await this.#session.post({ type: 'send-settled', turn, ...failure })
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
  #attach(agent: RunningAgent, adoption?: Pick<AdoptionSink, 'handled'>): void {
    this.agent = agent
    void agent.ended.then(async (end) => {
      await adoption?.handled
      if (this.agent === agent && !this.#isLeft) await this.#session.post({ type: 'agent-ended', end })
    })
  }

  /** What a former agent emits does not matter to the session of the next one. */
  #sink(): Required<Pick<AgentSink, 'emit' | 'ask' | 'mark'>> {
    const { signal } = this.#abort
    return {
      emit: (batch) => {
        if (this.#isLeft) return NEVER
        return signal === this.#abort.signal ? this.#session.post({ type: 'signals', batch }) : undefined
      },
      ask: (request, withdrawal) => {
        if (this.#isLeft) return NEVER
        if (signal !== this.#abort.signal) return Promise.resolve({ outcome: 'cancelled' })
        const requestId = this.#host.newId('r_')
        return this.#answer(requestId, this.#session.call('asked', { requestId, request }), withdrawal)
      },
      mark: () => this.#mark(),
    }
  }

  /** What took effect and could not be stored yet is held back. */
  #mark(): number | Promise<void> {
    const { log } = this.#session
    if (this.#isLeft) return NEVER
    if (!log.hasPendingWrites) return log.lastSeq
    const wait = new Promise<void>((resolve) => this.#host.clock.after(RETRY_MS, resolve))
    return wait.then(() => log.flush()).catch(() => undefined)
  }

  /** Whether a gate had left the request to a person is not known any more: then no rule may answer it. */
  #askAgain(again: AskedAgain, withdrawal: AbortSignal): Promise<AgentAnswer> {
    if (this.#isLeft) return NEVER
    const isForPerson = this.#host.gate !== undefined
    return this.#answer(again.requestId, this.#session.call('asked-again', { ...again, isForPerson }), withdrawal)
  }

  #answer(requestId: string, answered: Promise<AgentAnswer>, withdrawal: AbortSignal): Promise<AgentAnswer> {
    const withdraw = (): void => void this.#session.post({ type: 'withdrawn', requestId })
    if (withdrawal.aborted) withdraw()
    else withdrawal.addEventListener('abort', withdraw, { once: true })
    return answered.finally(() => withdrawal.removeEventListener('abort', withdraw))
  }
}

/** How soon a log is asked again whether it can store what is held back, in milliseconds. */
const RETRY_MS = 1_000

/** What an agent that was left emits is neither handled nor lost: the next host reads it. */
const NEVER = new Promise<never>(() => undefined)

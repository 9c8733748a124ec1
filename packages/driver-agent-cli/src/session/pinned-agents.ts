import {
  type AgentInfo,
  AgentprotoError,
  type Clock,
  type ContentBlock,
  type StoredAgentSession,
  type Timer,
  type TraceContext,
} from '@agentproto/contracts'
import type { AgentEnd, ConfigChange, ProcessExit, RunningAgent } from '@agentproto/contracts/agent'
import { settlesWithin } from '../launch/running-agent.js'
import type { Launched } from './session-sink.js'

/** Processes that are kept at once. The one that was idle for longest is ended first. */
const MAX_PINS = 64
/** How long the cancel of an abandoned turn may take before its agent is ended, in milliseconds. */
const CANCEL_MS = 1_000

export interface PinOptions {
  /** How long an unused agent is kept, in milliseconds. */
  readonly idleTimeoutMs: number
  readonly launch: () => Promise<Launched>
}

/** Agents that stay alive between the sessions that use them (AIP-45 `pinned-session`). */
export class PinnedAgents {
  readonly #clock: Clock
  /** In the order of their last use. */
  readonly #pins = new Map<string, Pin>()
  #closed = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * The agent of a key, launched if there is none. Stopping it returns it to the pool.
   * @throws `session_limit_reached` when all that are kept are in use; as the launch
   */
  async take(key: string, { idleTimeoutMs, launch }: PinOptions): Promise<Launched> {
    for (;;) {
      if (this.#closed) throw new AgentprotoError('shutting_down', 'The host is shutting down: no agent is started')
      const kept = this.#pins.get(key)
      if (!kept) return this.#use(key, this.#pin(key, { idleTimeoutMs, launch }))
      // The failure of another caller's start is not a failure of this one.
      const launched = await kept.launching.catch(() => {})
      if (launched) return this.#use(key, kept)
    }
  }

  /** Ends them all, used or not. */
  async close(): Promise<void> {
    this.#closed = true
    const pins = [...this.#pins.values()]
    this.#pins.clear()
    await Promise.all(pins.map((pin) => pin.end()))
  }

  #pin(key: string, options: PinOptions): Pin {
    if (this.#pins.size >= MAX_PINS) this.#evictOne()
    const pin: Pin = new Pin(options, this.#clock, () => {
      if (this.#pins.get(key) === pin) this.#pins.delete(key)
    })
    this.#pins.set(key, pin)
    return pin
  }

  async #use(key: string, pin: Pin): Promise<Launched> {
    this.#pins.delete(key)
    this.#pins.set(key, pin)
    return pin.use()
  }

  #evictOne(): void {
    const idle = [...this.#pins].find(([, pin]) => pin.users === 0)
    if (!idle) throw new AgentprotoError('session_limit_reached', `${MAX_PINS} agents are kept, and all are in use`)
    this.#pins.delete(idle[0])
    void idle[1].end().catch(() => {})
  }
}

/** One kept agent. */
class Pin {
  readonly launching: Promise<Launched>
  readonly #idleTimeoutMs: number
  readonly #clock: Clock
  readonly #gone: () => void
  #eviction: Timer | undefined
  users = 0

  constructor({ idleTimeoutMs, launch }: PinOptions, clock: Clock, gone: () => void) {
    this.#idleTimeoutMs = idleTimeoutMs
    this.#clock = clock
    this.#gone = gone
    this.launching = launch()
    // An agent that ended, or failed to start, must not be found.
    this.launching.then(({ agent }) => agent.ended.then(gone), gone)
  }

  async use(): Promise<Launched> {
    this.users++
    this.#eviction?.cancel()
    const { agent, sink } = await this.launching
    return { agent: new BorrowedAgent(agent, this.#clock, (usable) => this.#giveBack(usable)), sink }
  }

  async end(): Promise<ProcessExit> {
    this.#eviction?.cancel()
    this.#gone()
    const launched = await this.launching.catch(() => {})
    return (await launched?.agent.stop()) ?? {}
  }

  async #giveBack(usable: boolean): Promise<ProcessExit> {
    this.users--
    if (!usable) return this.end()
    if (this.users > 0) return {}
    this.#eviction = this.#clock.after(this.#idleTimeoutMs, () => void this.end().catch(() => {}))
    return {}
  }
}

/** A kept agent as one session uses it. */
class BorrowedAgent implements RunningAgent {
  readonly info: AgentInfo
  readonly warnings: readonly string[]
  readonly ended: Promise<AgentEnd>
  readonly #agent: RunningAgent
  readonly #clock: Clock
  readonly #giveBack: (usable: boolean) => Promise<ProcessExit>
  #turn: Promise<void> | undefined
  #stopping: Promise<ProcessExit> | undefined

  constructor(agent: RunningAgent, clock: Clock, giveBack: (usable: boolean) => Promise<ProcessExit>) {
    this.#agent = agent
    this.#clock = clock
    this.#giveBack = giveBack
    this.info = agent.info
    this.warnings = agent.warnings
    this.ended = agent.ended
  }

  get agentSessionId(): string {
    return this.#agent.agentSessionId
  }

  async send(prompt: readonly ContentBlock[], trace?: TraceContext): Promise<void> {
    const turn = this.#agent.send(prompt, trace)
    this.#turn = turn
    try {
      await turn
    } finally {
      this.#turn = undefined
    }
  }

  cancel(): Promise<void> {
    return this.#agent.cancel()
  }

  configure(change: ConfigChange): Promise<void> {
    return this.#agent.configure(change)
  }

  async storedSessions(cwd?: string): Promise<readonly StoredAgentSession[]> {
    return (await this.#agent.storedSessions?.(cwd)) ?? []
  }

  stop(): Promise<ProcessExit> {
    this.#stopping ??= this.#settled().then(this.#giveBack)
    return this.#stopping
  }

  /** Whether other sessions can use the agent: they would see the events of a turn that cannot be cancelled. */
  async #settled(): Promise<boolean> {
    const turn = this.#turn
    if (!turn) return true
    await this.#agent.cancel()
    return settlesWithin(CANCEL_MS, turn, this.#clock)
  }
}

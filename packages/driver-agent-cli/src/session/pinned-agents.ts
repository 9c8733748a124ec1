import { AgentprotoError, type Clock, settlesWithin, type Timer } from '@agentproto/contracts'
import type { ProcessExit, RunningAgent } from '@agentproto/contracts/agent'
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
    return { agent: borrowed(agent, this.#clock, (usable) => this.#giveBack(usable)), sink }
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

/**
 * A kept agent as one session uses it: the session knows its own turns, and its stop gives the agent back.
 * @param giveBack is called once, with whether other sessions can use the agent
 */
function borrowed(
  agent: RunningAgent,
  clock: Clock,
  giveBack: (usable: boolean) => Promise<ProcessExit>,
): RunningAgent {
  let running: Promise<void> | undefined
  let stopping: Promise<ProcessExit> | undefined

  async function send(...prompt: Parameters<RunningAgent['send']>): Promise<void> {
    const turn = agent.send(...prompt)
    running = turn
    try {
      await turn
    } finally {
      running = undefined
    }
  }

  /** Other sessions would see the events of a turn that cannot be cancelled. */
  async function settled(): Promise<boolean> {
    if (running === undefined) return true
    const turn = running
    await agent.cancel()
    return settlesWithin(CANCEL_MS, turn, clock)
  }

  return {
    info: agent.info,
    warnings: agent.warnings,
    ended: agent.ended,
    get agentSessionId() {
      return agent.agentSessionId
    },
    send,
    cancel: () => agent.cancel(),
    configure: (change) => agent.configure(change),
    storedSessions: async (cwd) => (await agent.storedSessions?.(cwd)) ?? [],
    stop: () => (stopping ??= settled().then(giveBack)),
  }
}

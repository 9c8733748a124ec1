import type { Clock } from '@agentproto/contracts'
import type { AgentGuard, RunTimes, StartAgent } from '@agentproto/contracts/agent'
import type { SessionActor } from '../session/actor.js'

export interface RunGuardOptions {
  readonly clock: Clock
  readonly live: () => readonly SessionActor[]
  /** Absent where nothing outside of this process could end an agent. */
  readonly guardAgents?: ((guard: AgentGuard) => Promise<void>) | undefined
  /** Milliseconds of a clock that no one can set. */
  readonly monotonic?: (() => number) | undefined
}

/**
 * Agents of sessions that may move, which something outside of this process ends unless it hears in time that they may go on: a
 * process that is frozen ends none.
 */
export class RunGuard {
  readonly #options: RunGuardOptions
  #times: RunTimes | undefined
  #since = { wall: 0, monotonic: 0 }
  #isArmed = false

  constructor(options: RunGuardOptions) {
    this.#options = options
  }

  /** From now on they may run for so long. */
  renew(times: RunTimes): void {
    this.#times = times
    this.#since = this.#now()
    this.look()
  }

  /** Other agents run than before, for the time that is left. @param started A process that no session names yet */
  look(started?: string): void {
    const { guardAgents } = this.#options
    if (guardAgents === undefined || this.#times === undefined) return
    const markers = [...new Set([...this.#markers(), ...(started === undefined ? [] : [started])])]
    if (markers.length === 0 && !this.#isArmed) return
    this.#isArmed = markers.length > 0
    // A keeper that does not answer now is asked again with the next renewal; what it heard before counts.
    void guardAgents({ markers, ms: this.#leftMs, graceMs: this.#times.graceMs }).catch(() => undefined)
  }

  /** Guarded before the agent is there, so that a process that is frozen meanwhile leaves none behind. */
  around(start: StartAgent): StartAgent {
    return async (options, sink) => {
      this.look()
      const agent = await start(options, sink)
      // Of a process that several sessions share, the marker is known only now.
      const marker = agent.process?.marker
      if (marker !== undefined && this.#markers().has(options.sessionId)) this.look(marker)
      return agent
    }
  }

  /** By the clock that says less: one stands still while the machine sleeps, the other can be set back. */
  get #leftMs(): number {
    const { wall, monotonic } = this.#now()
    const passed = Math.max(wall - this.#since.wall, monotonic - this.#since.monotonic)
    return Math.max(0, (this.#times?.forMs ?? 0) - passed)
  }

  #now(): { readonly wall: number; readonly monotonic: number } {
    const { clock, monotonic = () => performance.now() } = this.#options
    return { wall: clock.now(), monotonic: monotonic() }
  }

  #markers(): ReadonlySet<string> {
    const movable = this.#options.live().filter(({ state }) => state.session.onHostLoss === 'move')
    return new Set(movable.flatMap(({ id, state }) => [id, state.process?.marker ?? id]))
  }
}

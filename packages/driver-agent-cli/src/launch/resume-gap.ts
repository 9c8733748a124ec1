import type { Clock } from '@agentproto/contracts'
import type { AgentSink, SessionOrigin } from '@agentproto/contracts/agent'
import type { AgentCliManifest } from '@agentproto/manifest'
import type { AgentHost } from '../agent-host.js'
import { launchHints } from './launch-hints.js'

/** When the conversations of such agents were last started or resumed, by the agent's own id of them. */
const BEGUN = new WeakMap<AgentHost, Map<string, number>>()

export interface ResumeGapOptions {
  readonly host: AgentHost
  readonly clock: Clock
}

/**
 * The time that must lie between two starts with one conversation, for agents whose manifest states one at
 * `metadata.agentproto.resume_after_ms`: they corrupt their record of a conversation that is resumed too soon.
 * Kept for as long as the gateway runs.
 */
export class ResumeGap {
  readonly #ms: number
  readonly #clock: Clock
  readonly #begun: Map<string, number>
  readonly #agent: string

  constructor(manifest: Pick<AgentCliManifest, 'id' | 'metadata'>, { host, clock }: ResumeGapOptions) {
    this.#ms = launchHints(manifest).resumeAfterMs
    this.#clock = clock
    this.#agent = manifest.id
    this.#begun = BEGUN.get(host) ?? new Map<string, number>()
    BEGUN.set(host, this.#begun)
  }

  /** Waits until a conversation can be resumed; returns early when aborted. */
  async wait(origin: SessionOrigin, sink: AgentSink, signal: AbortSignal): Promise<void> {
    const begun = origin.how === 'new' ? undefined : this.#begun.get(this.#keyOf(origin.agentSessionId))
    const ms = begun === undefined ? 0 : this.#ms - (this.#clock.now() - begun)
    if (ms <= 0 || signal.aborted) return
    const text = `The agent starts in ${Math.ceil(ms / 1_000)} s: sooner, it would corrupt its record of the conversation`
    await sink.emit([{ type: 'notice', severity: 'info', text }])
    // Timers of a Clock do not keep the process alive.
    const hold = setInterval(() => undefined, 60_000)
    await new Promise<void>((resolve) => {
      const timer = this.#clock.after(ms, resolve)
      signal.addEventListener('abort', () => (timer.cancel(), resolve()), { once: true })
    }).finally(() => clearInterval(hold))
  }

  /** A conversation was begun, at this moment (milliseconds since the epoch). */
  note(agentSessionId: string, at: number): void {
    if (this.#ms === 0 || agentSessionId === '') return
    // Bounded by what is begun within the time itself.
    for (const [key, before] of this.#begun) if (at - before > MS_MAX) this.#begun.delete(key)
    this.#begun.set(this.#keyOf(agentSessionId), at)
  }

  #keyOf(agentSessionId: string): string {
    return `${this.#agent} ${agentSessionId}`
  }
}

const MS_MAX = 120_000

import type { AgentSignal, AgentSink } from '@agentproto/contracts'

/**
 * What a session has to tell its host: collected while one read of the agent is translated, then emitted
 * in one call. A sink that throws is the host's fault; it must not cost the turn its end.
 */
export class Outbox {
  readonly #sink: AgentSink
  #batch: AgentSignal[] = []
  #pressure: Promise<unknown> | undefined

  constructor(sink: AgentSink) {
    this.#sink = sink
  }

  put(signal: AgentSignal): void {
    this.#batch.push(signal)
  }

  /** Emits what is collected, now. */
  flush(): void {
    if (this.#batch.length === 0) return
    const batch = this.#batch
    this.#batch = []
    const taken = this.#emit(batch)
    if (taken) this.#pressure = this.#pressure ? Promise.all([this.#pressure, taken]) : taken
  }

  /** Emits what is collected and says how long the host needs for all that was emitted since the last time. */
  drain(): Promise<unknown> | undefined {
    this.flush()
    const pressure = this.#pressure
    this.#pressure = undefined
    return pressure
  }

  #emit(batch: readonly AgentSignal[]): Promise<void> | undefined {
    try {
      return this.#sink.emit(batch)?.catch(() => {})
    } catch {
      return undefined
    }
  }
}

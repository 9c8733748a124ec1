import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'

type OfType<T extends AgentSignal['type']> = Extract<AgentSignal, { type: T }>

/** A sink that keeps every signal and request. */
export class RecordingSink implements AgentSink {
  readonly signals: AgentSignal[] = []
  readonly asked: { readonly request: AgentRequest; readonly signal: AbortSignal }[] = []
  /** Requests that an earlier host had answered. */
  readonly answers: AgentRequest[] = []
  /** Called with every batch, before it counts as taken. */
  onBatch: ((batch: readonly AgentSignal[]) => void | Promise<void>) | undefined
  /** Answers a request; without it, it waits for ever. */
  onAsk: ((request: AgentRequest) => Promise<AgentAnswer>) | undefined
  readonly #waiting = new Set<() => void>()

  emit(batch: readonly AgentSignal[]): void | Promise<void> {
    this.signals.push(...batch)
    for (const wake of this.#waiting) wake()
    return this.onBatch?.(batch)
  }

  ask(request: AgentRequest, signal: AbortSignal): Promise<AgentAnswer> {
    this.asked.push({ request, signal })
    for (const wake of this.#waiting) wake()
    return this.onAsk?.(request) ?? new Promise(() => {})
  }

  answered(request: AgentRequest): void {
    this.answers.push(request)
  }

  mark(): number {
    return this.signals.length
  }

  ofType<T extends AgentSignal['type']>(type: T): OfType<T>[] {
    return this.signals.filter((signal): signal is OfType<T> => signal.type === type)
  }

  /** What the agent said, joined. */
  get text(): string {
    return this.ofType('text-delta')
      .map(({ text }) => text)
      .join('')
  }

  /** Resolves once the condition holds; looked at after every batch and every request. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!condition()) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }
}

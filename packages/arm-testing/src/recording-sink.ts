import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import type { AgentSignal, AgentSink } from '@agentproto/contracts/agent'

type OfType<T extends AgentSignal['type']> = Extract<AgentSignal, { type: T }>

/** A sink that keeps every signal and request, up to a bound. */
export class RecordingSink implements AgentSink {
  readonly signals: AgentSignal[] = []
  readonly asked: { readonly request: AgentRequest; readonly signal: AbortSignal }[] = []
  /** Requests that an earlier host had answered. */
  readonly answers: AgentRequest[] = []
  /** Called with every batch, before it counts as taken. */
  onBatch: ((batch: readonly AgentSignal[]) => void | Promise<void>) | undefined
  /** Answers a request; without it, it waits for ever. */
  onAsk: ((request: AgentRequest) => Promise<AgentAnswer>) | undefined
  /** How many signals were more than the bound; an end of a turn is always kept. */
  dropped = 0
  readonly #most: number
  readonly #waiting = new Set<() => void>()

  /** @param most so many signals are kept; default: all */
  constructor(most: number = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  emit(batch: readonly AgentSignal[]): void | Promise<void> {
    for (const signal of batch) this.#keep(signal)
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

  #keep(signal: AgentSignal): void {
    if (this.signals.length < this.#most || signal.type === 'turn-end') this.signals.push(signal)
    else this.dropped += 1
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

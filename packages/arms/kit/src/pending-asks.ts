import type { AgentAnswer, AgentRequest, AgentSink } from '@agentproto/contracts'

/** Requests of one session that may wait for the user at once. */
const MAX_ASKS = 64

/** A request of the agent that its user answers, and what the agent is then told. */
export interface UserRequest {
  readonly request: AgentRequest
  /** Tells the agent; called once at most. */
  readonly reply: (answer: AgentAnswer) => void
  /** The agent took it back, and is told so instead. */
  readonly withdrawn?: () => void
}

interface Ask {
  readonly id: unknown
  readonly asked: UserRequest
  readonly withdrawn: AbortController
}

/** What a session's agent waits for. Every request is answered exactly once, whoever is first. */
export class PendingAsks {
  readonly #asks = new Set<Ask>()
  readonly #sink: AgentSink

  constructor(sink: AgentSink) {
    this.#sink = sink
  }

  get full(): boolean {
    return this.#asks.size >= MAX_ASKS
  }

  /** Asks the host; `id` is the agent's own. */
  add(id: unknown, asked: UserRequest): void {
    const ask = { id, asked, withdrawn: new AbortController() }
    this.#asks.add(ask)
    const answered = (answer: AgentAnswer): void => this.#settle(ask, () => asked.reply(answer))
    void this.#answer(ask).then(answered, () => answered({ outcome: 'cancelled' }))
  }

  /** The agent takes a request back. */
  withdraw(id: unknown): void {
    for (const ask of this.#asks) if (ask.id === id) this.#settle(ask, () => ask.asked.withdrawn?.())
  }

  /** The turn is over, or is to be: each is answered with cancelled. */
  cancelAll(): void {
    for (const ask of this.#asks) this.#settle(ask, () => ask.asked.reply({ outcome: 'cancelled' }))
  }

  async #answer({ asked, withdrawn }: Ask): Promise<AgentAnswer> {
    return this.#sink.ask(asked.request, withdrawn.signal)
  }

  #settle(ask: Ask, tell: () => void): void {
    if (!this.#asks.delete(ask)) return
    tell()
    ask.withdrawn.abort()
  }
}

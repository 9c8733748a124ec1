import type { AgentAnswer, AgentRequest } from '@agentproto/contracts'
import type { AgentSink } from '@agentproto/contracts/agent'

/** Requests of one session that may wait for the user at once. */
const MAX_PENDING = 64

/** How the agent gets the answer to its request. */
export interface Reply {
  /** Sends the answer to the agent; called at most once. */
  readonly reply: (answer: AgentAnswer) => void
  /** Confirms to the agent that it has withdrawn the request; called instead of `reply`. */
  readonly withdrawn?: () => void
}

interface Pending {
  readonly id: unknown
  readonly to: Reply
  readonly withdrawn: AbortController
}

/** The requests of one session that wait for the user. Each is settled exactly once, by the first answer. */
export class PendingRequests {
  readonly #pending = new Set<Pending>()
  readonly #sink: AgentSink

  constructor(sink: AgentSink) {
    this.#sink = sink
  }

  get full(): boolean {
    return this.#pending.size >= MAX_PENDING
  }

  /** Asks the host; `id` is the agent's own. */
  add(id: unknown, request: AgentRequest, to: Reply): void {
    const pending = { id, to, withdrawn: new AbortController() }
    this.#pending.add(pending)
    const settle = (answer: AgentAnswer): void => this.#settle(pending, () => to.reply(answer))
    // A sink may also throw before it has a promise.
    const asking = (async () => this.#sink.ask(request, pending.withdrawn.signal))()
    void asking.then(settle, () => settle({ outcome: 'cancelled' }))
  }

  withdraw(id: unknown): void {
    for (const pending of this.#pending) if (pending.id === id) this.#settle(pending, () => pending.to.withdrawn?.())
  }

  /** Answers every request with `cancelled`: the turn is over, or is about to end. */
  cancelAll(): void {
    for (const pending of this.#pending) this.#settle(pending, () => pending.to.reply({ outcome: 'cancelled' }))
  }

  #settle(pending: Pending, respond: () => void): void {
    if (!this.#pending.delete(pending)) return
    respond()
    pending.withdrawn.abort()
  }
}

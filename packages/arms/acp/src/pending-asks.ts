import type { AgentAnswer, AgentSink } from '@agentproto/contracts'
import type { UserRequest } from './agent-request.js'

/** Requests of one session that may wait for the user at once. */
const MAX_ASKS = 64

/** The answer to a JSON-RPC request. */
export type RpcAnswer =
  | { readonly result: object }
  | { readonly error: { readonly code: number; readonly message: string } }

interface Ask {
  readonly id: unknown
  readonly asked: UserRequest
  readonly withdrawn: AbortController
}

/** What a session's agent waits for. Every request is answered exactly once, whoever is first. */
export class PendingAsks {
  readonly #asks = new Set<Ask>()
  readonly #sink: AgentSink
  readonly #respond: (id: unknown, answer: RpcAnswer) => void

  constructor(sink: AgentSink, respond: (id: unknown, answer: RpcAnswer) => void) {
    this.#sink = sink
    this.#respond = respond
  }

  get full(): boolean {
    return this.#asks.size >= MAX_ASKS
  }

  /** Asks the host; `id` is the agent's own. */
  add(id: unknown, asked: UserRequest): void {
    const ask = { id, asked, withdrawn: new AbortController() }
    this.#asks.add(ask)
    const answered = (answer: AgentAnswer): void => this.#settle(ask, { result: asked.reply(answer) })
    void this.#answer(ask).then(answered, () => answered({ outcome: 'cancelled' }))
  }

  /** The agent takes a request back (`$/cancel_request`). */
  withdraw(id: unknown): void {
    for (const ask of this.#asks) {
      if (ask.id === id) this.#settle(ask, { error: { code: -32800, message: 'Request cancelled' } })
    }
  }

  /** The turn is over, or is to be: each is answered with cancelled. */
  cancelAll(): void {
    for (const ask of this.#asks) this.#settle(ask, { result: ask.asked.reply({ outcome: 'cancelled' }) })
  }

  async #answer({ asked, withdrawn }: Ask): Promise<AgentAnswer> {
    return this.#sink.ask(asked.request, withdrawn.signal)
  }

  #settle(ask: Ask, answer: RpcAnswer): void {
    if (!this.#asks.delete(ask)) return
    this.#respond(ask.id, answer)
    ask.withdrawn.abort()
  }
}

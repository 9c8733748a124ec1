import type { Clock, IdempotencyDigests, Principal, Session } from '@agentproto/contracts'
import type { StoredSession } from '@agentproto/contracts/agent'
import type { PromptRequest, SpawnAgentRequest } from '@agentproto/contracts/wire'
import { Idempotency } from './idempotency.js'
import { EarlierStarts } from './lifecycle/earlier-starts.js'
import type { SessionHandle } from './session/session-handle.js'
import { earlierPrompt } from './turns/earlier-prompt.js'

/** Starts and prompts by their idempotency keys: a repeat gets the first answer, also from the next host. */
export class RepeatedCalls {
  readonly #clock: Clock
  readonly #openedAt: number
  readonly #started: Idempotency<Session>
  readonly #prompted: Idempotency<number>
  readonly #earlierStarts: EarlierStarts

  /** @param descriptor of a session that there is */
  constructor(clock: Clock, descriptor: (id: string) => Session | undefined) {
    this.#clock = clock
    this.#openedAt = clock.now()
    this.#started = new Idempotency(clock)
    this.#prompted = new Idempotency(clock)
    this.#earlierStarts = new EarlierStarts(descriptor)
  }

  /** @param stored the records that the earlier host left */
  load(stored: readonly StoredSession[]): void {
    this.#earlierStarts.add(stored)
  }

  /** A key is its caller's own: no caller gets another one's session for it. */
  start(request: SpawnAgentRequest, by: Principal, { start, goOn }: Starting): Promise<Session> {
    const { idempotencyKey: key } = request
    if (key === undefined) return start()
    const find = (digests: IdempotencyDigests) => this.#earlierStarts.find(digests, { now: this.#clock.now(), goOn })
    return this.#started.once(by, key, { request, call: start, find })
  }

  prompt(session: SessionHandle, request: PromptRequest, { by, admit }: Prompting): Promise<number> {
    const { idempotencyKey: key } = request
    if (key === undefined) return admit()
    const find = (digests: IdempotencyDigests) =>
      earlierPrompt(session, digests, { openedAt: this.#openedAt, now: this.#clock.now() })
    return this.#prompted.once(by, `${session.id} ${key}`, { request, call: admit, find })
  }
}

interface Starting {
  readonly start: (idempotency?: IdempotencyDigests) => Promise<Session>
  /** With a session that an earlier host has started, and to which it may not have sent the first prompt. */
  readonly goOn: (id: string) => Promise<Session>
}

interface Prompting {
  readonly by: Principal
  readonly admit: (idempotency?: IdempotencyDigests) => Promise<number>
}

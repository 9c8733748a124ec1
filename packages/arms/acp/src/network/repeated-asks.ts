import { asRecord, type ToolCall } from '@agentproto/contracts'
import { AGENT_BOUNDS } from '../agent-bounds.js'
import type { HostRequest } from '../host-services.js'
import type { RpcAnswer } from '../rpc-answer.js'

/** Answers a request of the agent on the connection that it came by. */
export type Respond = (id: unknown, answer: RpcAnswer) => void

/** A request that the user was asked. */
export class Ask {
  readonly identity: string
  id: unknown
  #respond: Respond
  /** What it was answered; the answer may not have reached the agent. */
  #answer: RpcAnswer | undefined

  constructor(id: unknown, identity: string, respond: Respond) {
    this.identity = identity
    this.id = id
    this.#respond = respond
  }

  answer(answer: RpcAnswer): void {
    this.#answer = answer
    this.#respond(this.id, answer)
  }

  /** The agent asks the same on another connection. */
  again(id: unknown, respond: Respond): void {
    this.id = id
    this.#respond = respond
    if (this.#answer) respond(id, this.#answer)
  }

  get isOpen(): boolean {
    return this.#answer === undefined
  }
}

/**
 * The requests of a turn over several connections. After a lost connection an agent asks again what was not answered, and what
 * was answered too late: the user is asked once.
 */
export class RepeatedAsks {
  #asks: Ask[] = []
  /** Those of an earlier connection that were not asked again. */
  #earlier: Set<Ask> | undefined

  add(request: HostRequest, call: ToolCall | undefined, respond: Respond): Ask {
    const ask = new Ask(request.id, identityOf(request, call), respond)
    this.#asks.push(ask)
    if (this.#asks.length > AGENT_BOUNDS.turnRequests) this.#asks.shift()
    return ask
  }

  /**
   * Whether it is a request of an earlier connection that is asked again; it is then not asked.
   * @param call what is known of the call that it is about
   */
  isRepeated(request: HostRequest, call: ToolCall | undefined, respond: Respond): boolean {
    const identity = identityOf(request, call)
    const ask = [...(this.#earlier ?? [])].find((each) => each.identity === identity)
    if (!ask) return false
    this.#earlier?.delete(ask)
    ask.again(request.id, respond)
    return true
  }

  /** The request that has this id on the connection. */
  withId(id: unknown): Ask | undefined {
    return this.#asks.findLast((ask) => ask.id === id && ask.isOpen)
  }

  /** The connection was lost: what was asked by it may be asked again. */
  lost(): void {
    this.#earlier = new Set(this.#asks)
    // An id of a lost connection means nothing on the next one.
    for (const ask of this.#asks) ask.id = undefined
  }

  /** What may be asked again by the connection that there is now. */
  get awaited(): ReadonlySet<Ask> | undefined {
    return this.#earlier
  }

  /**
   * Returns those that the agent has not asked again: they were answered elsewhere.
   * @param awaited of the connection that they were waited for by; nothing is settled for one that was lost since
   */
  settle(awaited: ReadonlySet<Ask> | undefined): readonly Ask[] {
    if (awaited === undefined || awaited !== this.#earlier) return []
    this.#earlier = undefined
    return [...awaited].filter(({ isOpen }) => isOpen)
  }

  /** A turn begins. */
  clear(): void {
    this.#asks = []
    this.#earlier = undefined
  }
}

/**
 * The same question about the same, whatever name the agent gives it: an answer counts for what the user has seen. A request may
 * name its call alone, and be about what was said of that call before.
 */
function identityOf({ method, params }: HostRequest, call: ToolCall | undefined): string {
  const { _meta, ...asked } = params
  const { toolName, title, kind, locations, input } = call ?? {}
  const { requestId } = asRecord(asRecord(_meta)['agentproto'])
  return JSON.stringify([method, requestId, asked, toolName, title, kind, locations, input])
}

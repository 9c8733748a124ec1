import { AgentprotoError, asRecord, isRecord } from '@agentproto/contracts'
import type { ClientBounds } from './acp-host.js'
import { invalidMessage, refusedRequest } from './refused-message.js'

/** What becomes of a message: the SDK handles it, it is ignored, or it is refused with an answer. */
export type Verdict = 'handled' | 'ignored' | { readonly refusal: object }

/**
 * The calls of one connection that are not answered yet, both ways. The SDK keeps each of them without a bound, and prints a
 * line for what it does not expect: a client must be able to do neither.
 */
export class OpenCalls {
  readonly #bounds: ClientBounds
  /** Ids of the client's requests, and how often each is open: a client may use one twice. */
  readonly #theirs = new Map<unknown, number>()
  /** Ids of requests to the client. One that was withdrawn is still answered. */
  readonly #ours = new Set<unknown>()
  #open = 0

  constructor(bounds: ClientBounds) {
    this.#bounds = bounds
  }

  /** Whether one more request can be sent to the client. */
  get hasRoom(): boolean {
    return this.#ours.size < this.#bounds.openRequests
  }

  received(message: unknown): Verdict {
    // The SDK refuses what is no object.
    if (!isRecord(message)) return 'handled'
    if (typeof message['method'] !== 'string') return this.#isAnswer(message) ? 'handled' : shapeless(message)
    return 'id' in message ? this.#asked(message) : notified(message)
  }

  sent(message: object): void {
    const { id, method } = message as { readonly id?: unknown; readonly method?: unknown }
    if (id === undefined) return
    if (method !== undefined) this.#ours.add(id)
    else this.#answered(id)
  }

  #asked({ jsonrpc, id }: Record<string, unknown>): Verdict {
    const { idChars, openRequests } = this.#bounds
    // The SDK refuses it, with an answer that has no id.
    if (jsonrpc !== '2.0' || (typeof id === 'object' && id !== null) || typeof id === 'boolean') return 'handled'
    // An answer to null would be that to a message without an id.
    if (id === null) return { refusal: invalidMessage(null, 'the id of a request is a string or a number') }
    if (typeof id === 'string' && id.length > idChars)
      return { refusal: invalidMessage(null, `an id has at most ${idChars} characters`) }
    if (this.#open >= openRequests) return { refusal: refusedRequest(id, tooMany(openRequests)) }
    this.#open++
    this.#theirs.set(id, (this.#theirs.get(id) ?? 0) + 1)
    return 'handled'
  }

  #answered(id: unknown): void {
    const times = this.#theirs.get(id)
    if (times === undefined) return
    this.#open--
    if (times === 1) this.#theirs.delete(id)
    else this.#theirs.set(id, times - 1)
  }

  /** A second answer to the same request, and one to a request of another connection, is none. */
  #isAnswer(message: Record<string, unknown>): boolean {
    return 'id' in message && ('result' in message || 'error' in message) && this.#ours.delete(message['id'])
  }
}

/** An answer to nothing is ignored; the SDK refuses what is neither a call nor an answer. */
const shapeless = (message: Record<string, unknown>): Verdict =>
  'id' in message || 'result' in message || 'error' in message ? 'ignored' : 'handled'

/** The SDK prints a notification that it knows and cannot parse. */
function notified({ method, params }: Record<string, unknown>): Verdict {
  if (method !== 'session/cancel') return 'handled'
  return typeof asRecord(params)['sessionId'] === 'string' ? 'handled' : 'ignored'
}

const tooMany = (openRequests: number): AgentprotoError =>
  new AgentprotoError('request_limit_reached', 'Too many requests of this connection are not answered yet', {
    expected: `at most ${openRequests}`,
    hint: 'Wait for an answer before the next request',
  })

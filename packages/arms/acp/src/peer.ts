import { asRecord, type Clock, isRecord, type Json } from '@agentproto/contracts'
import type { RpcAnswer } from './rpc-answer.js'
import { SdkLink } from './sdk-link.js'

/** The messages of the agent, by kind. */
export interface PeerEvents {
  /** Parameters of a `session/update`. */
  update(params: Json): void
  /** A request of the agent; false passes it to the SDK, which refuses unknown methods. */
  request(id: unknown, method: string, params: Json): boolean
  notification(method: string, params: Json): void
  /** A response without a pending request. */
  unmatched(message: Json): void
  /** A line that is not part of the protocol. */
  output(line: string): void
}

export interface PeerOptions {
  readonly name: string
  readonly clock: Clock
  readonly write: (line: string) => void | Promise<void>
  readonly events: PeerEvents
}

/** Ids of our own requests; the SDK counts its own from 0. */
const FIRST_ID = 2 ** 30

/**
 * JSON-RPC with the agent. Lines are parsed here. Updates and the answers of prompts are passed on directly, in order; the
 * SDK gets the rest as objects. (The SDK drops updates that its schema does not know, parses each twice, and can settle a
 * prompt before the updates that precede its answer.)
 */
export class Peer {
  readonly #events: PeerEvents
  readonly #write: (line: string) => void | Promise<void>
  /** The official SDK's client, for control requests. */
  readonly sdk: SdkLink
  readonly #calls = new Map<unknown, (response: Json) => void>()
  #nextId = FIRST_ID

  constructor({ name, clock, write, events }: PeerOptions) {
    this.#events = events
    this.#write = write
    this.sdk = new SdkLink(name, (message) => this.#write(JSON.stringify(message)), clock)
  }

  handleLines(lines: readonly string[]): void {
    for (const line of lines) this.#handleLine(line)
  }

  /** Sends a request of ours; `answered` is called in order with the updates, or never. */
  call(method: string, params: object, answered: (response: Json) => void): void {
    const id = this.#nextId++
    this.#calls.set(id, answered)
    this.#send({ jsonrpc: '2.0', id, method, params })
  }

  notify(method: string, params: object): void {
    this.#send({ jsonrpc: '2.0', method, params })
  }

  respond(id: unknown, answer: RpcAnswer): void {
    this.#send({ jsonrpc: '2.0', id, ...answer })
  }

  /** Closes the connection: pending requests reject, and calls are dropped. */
  close(reason: Error): void {
    this.#calls.clear()
    this.sdk.close(reason)
  }

  #send(message: object): void {
    // Back-pressure of the agent's stdin is the pipe's: what is sent is bounded by the turns that run.
    void this.#write(JSON.stringify(message))
  }

  #handleLine(line: string): void {
    const message = parse(line)
    if (!message) {
      if (line.trim() !== '') this.#events.output(line)
      return
    }
    const { id, method } = message
    if (typeof method !== 'string') return this.#responded(message)
    if (id !== undefined) return this.#requested(message, method)
    const params = asRecord(message['params'])
    if (method === 'session/update') this.#events.update(params)
    else this.#events.notification(method, params)
  }

  #requested(message: Json, method: string): void {
    if (!this.#events.request(message['id'], method, asRecord(message['params']))) this.sdk.take(message)
  }

  #responded(message: Json): void {
    const answered = this.#calls.get(message['id'])
    if (answered) {
      this.#calls.delete(message['id'])
      answered(message)
    } else if (this.sdk.expects(message['id'])) {
      this.sdk.take(message)
    } else {
      this.#events.unmatched(message)
    }
  }
}

/** A JSON object, or nothing: agents print banners and warnings between their messages. */
function parse(line: string): Json | undefined {
  if (line.charCodeAt(0) !== 123) return undefined
  try {
    const message: unknown = JSON.parse(line)
    return isRecord(message) ? message : undefined
  } catch {
    return undefined
  }
}

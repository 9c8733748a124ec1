import { asNumber, asRecord, asString, isRecord, type Json } from '@agentproto/contracts'
import { notAdoptable } from './adopt-process.js'
import { parseLine } from './message.js'

/** The methods of a protocol by which turns begin and are cancelled. */
export interface TurnMethods {
  readonly prompt: string
  readonly cancel: string
}

/** A request that an earlier host has sent. */
export interface EarlierRequest {
  readonly id: number
  readonly method: string
  readonly params: Json
}

/** What an earlier host has written to an agent that speaks JSON-RPC since the idle point. */
export class EarlierHost {
  /** All that it has requested, in order. */
  readonly requests: EarlierRequest[] = []
  prompt: EarlierRequest | undefined
  /** It has cancelled the turn. */
  isCancelled = false
  /** Answers to requests of the agent, by their ids, each in order. */
  readonly #answers = new Map<string, Json[]>()
  readonly #methods: TurnMethods

  /** @throws `not_adoptable` for more than one turn */
  constructor(written: readonly string[], methods: TurnMethods) {
    this.#methods = methods
    for (const line of written) {
      const message = parseLine(line)
      if (isRecord(message)) this.#add(message)
    }
  }

  /** The answer that a request of the agent was given; each is returned once. */
  takeAnswer(id: unknown): Json | undefined {
    return this.#answers.get(JSON.stringify(id))?.shift()
  }

  #add(message: Json): void {
    const method = asString(message['method'])
    if (method === undefined) {
      const key = JSON.stringify(message['id'])
      this.#answers.set(key, [...(this.#answers.get(key) ?? []), message])
      return
    }
    if (method === this.#methods.cancel) this.isCancelled = this.prompt !== undefined
    const id = asNumber(message['id'])
    if (id === undefined) return
    const request = { id, method, params: asRecord(message['params']) }
    this.requests.push(request)
    if (method !== this.#methods.prompt) return
    if (this.prompt) throw notAdoptable('More than one turn is kept')
    this.prompt = request
  }
}

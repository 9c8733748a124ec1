import { notAdoptable, parseLine } from '@agentproto/arm-kit'
import { asNumber, asRecord, asString, isRecord, type Json } from '@agentproto/contracts'

/** A request of an earlier host whose answer changes the session. */
export interface EarlierRequest {
  readonly id: number
  readonly method: string
  readonly params: Json
}

/** Requests of an earlier host whose answers are handled in order with the updates. */
const SETTINGS: ReadonlySet<string> = new Set(['session/set_mode', 'session/set_model', 'session/set_config_option'])

/** What an earlier host has written to the agent since the idle point. */
export class EarlierHost {
  readonly settings: EarlierRequest[] = []
  /** Answers to requests of the agent, by their ids, each in order. */
  readonly #answers = new Map<string, Json[]>()
  /** The ids of its own requests. */
  readonly ids: number[] = []
  prompt: EarlierRequest | undefined
  /** It has cancelled the turn. */
  isCancelled = false

  /** @throws `not_adoptable` for more than one turn */
  constructor(written: readonly string[]) {
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
    if (method === 'session/cancel') this.isCancelled = this.prompt !== undefined
    const id = asNumber(message['id'])
    if (id === undefined) return
    this.ids.push(id)
    const request = { id, method, params: asRecord(message['params']) }
    if (SETTINGS.has(method)) this.settings.push(request)
    if (method !== 'session/prompt') return
    if (this.prompt) throw notAdoptable('More than one turn is kept')
    this.prompt = request
  }
}

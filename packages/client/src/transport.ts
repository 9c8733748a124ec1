import {
  AgentprotoError,
  asRecord,
  defined,
  fromProblem,
  isAgentprotoError,
  isRecord,
  pause,
} from '@agentproto/contracts'
import type { JsonOf, Route } from '@agentproto/contracts/wire'
import { addressOf, type ClientSettings, type FetchResponse, type GatewayAddress } from './client-options.js'
import { CallRetries } from './call-retries.js'
import { cancelled, connectionFault, outcomeUnknown, unreachable } from './connection-error.js'
import { type Asked, type Call, callOf } from './operation-call.js'
import { untilAborted } from './until-aborted.js'

/** Calls one gateway with fetch; handles tokens, problem documents and broken connections. */
export class Transport {
  readonly settings: ClientSettings
  #address: GatewayAddress
  #hasAnswered = false

  constructor(settings: ClientSettings) {
    this.settings = settings
    this.#address = settings.address
  }

  /** Whether a call waits for the gateway when that is gone: one that has never answered may not be one. */
  get isWaiting(): boolean {
    return this.#hasAnswered && this.settings.callRetryMs > 0
  }

  /** The last known address of the gateway. */
  get url(): string {
    return this.#address.url
  }

  /**
   * Asks for the current address of the gateway, which may start it.
   * @returns `moved` if the address or the token has changed; undefined if the gateway is not found
   */
  async relocate(signal: AbortSignal | undefined): Promise<'moved' | 'same' | undefined> {
    const found = await untilAborted(this.settings.locate(), signal).catch(() => undefined)
    if (found === undefined) return undefined
    const { url, token } = this.#address
    this.#address = addressOf(found)
    return this.#address.url === url && this.#address.token === token ? 'same' : 'moved'
  }

  /** Calls an operation. The JSON of a successful answer is trusted to have the shape that the table says. */
  readonly call = async <R extends Route>(route: R, asked: Asked<R>): Promise<JsonOf<R>> => {
    const response = await this.#accepted(await this.#send(callOf(route, asked), 'application/json'))
    return response.json() as Promise<JsonOf<R>>
  }

  /** Opens an event stream, once. @returns the answer, with status 200 */
  async stream(call: Call, lastEventId: string | undefined): Promise<FetchResponse> {
    return this.#accepted(await this.#withToken(call, 'text/event-stream', lastEventId))
  }

  /** The text of a successful answer, in pieces as they come. */
  async *text(call: Call): AsyncGenerator<string> {
    const decoder = new TextDecoder()
    for await (const piece of this.bytes(call)) yield decoder.decode(piece, { stream: true })
    yield decoder.decode()
  }

  /** The bytes of a successful answer, in pieces as they come. */
  async *bytes(call: Call): AsyncGenerator<Uint8Array> {
    const response = await this.#accepted(await this.#send(call, '*/*'))
    const reader = response.body?.getReader()
    try {
      for (let next = await reader?.read(); next?.value !== undefined; next = await reader?.read()) yield next.value
    } catch (thrown) {
      throw unreachable(this.url, thrown)
    } finally {
      await reader?.cancel()
    }
  }

  /** Sends a body and returns an event stream; fails like {@link Transport.call}. */
  async postForStream(call: Call): Promise<FetchResponse> {
    return this.#accepted(await this.#send(call, 'text/event-stream'))
  }

  async #send(call: Call, accept: string): Promise<FetchResponse> {
    const forMs = this.isWaiting ? this.settings.callRetryMs : 0
    const retries = new CallRetries({ clock: this.settings.clock, forMs, isRepeatable: isRepeatable(call) })
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#withToken(call, accept)
      } catch (thrown) {
        if (call.signal?.aborted) throw cancelled(thrown)
        // An injected fetch may throw a more precise error.
        if (isAgentprotoError(thrown)) throw thrown
        const fault = connectionFault(thrown)
        // Nothing was sent, so any call may be repeated at the current address.
        if (fault === 'refused' && attempt === 0 && (await this.relocate(call.signal)) !== undefined) continue
        const wait = retries.next(fault)
        if (wait === undefined) throw (fault === 'refused' ? unreachable : lostError(call))(this.url, thrown)
        await pause(this.settings.clock, wait, call.signal)
      }
    }
  }

  async #accepted(response: FetchResponse): Promise<FetchResponse> {
    if (response.ok) return response
    throw await problemOf(response, this.url)
  }

  /** Repeats a call once if its token was refused: another gateway may have taken over the address. */
  async #withToken(call: Call, accept: string, lastEventId?: string): Promise<FetchResponse> {
    const response = await this.#fetch(call, accept, lastEventId)
    if (response.status !== 401 || (await this.relocate(call.signal)) !== 'moved') return response
    await response.body?.getReader().cancel()
    return this.#fetch(call, accept, lastEventId)
  }

  #fetch(call: Call, accept: string, lastEventId?: string): Promise<FetchResponse> {
    const { url, token } = this.#address
    const { fetch, trace } = this.settings
    const sent = fetch(`${url}${call.path}${queryOf(call)}`, {
      method: call.method ?? 'GET',
      headers: {
        accept,
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        ...(call.text !== undefined && { 'content-type': 'application/x-ndjson' }),
        ...defined({ authorization: token && `Bearer ${token}`, 'last-event-id': lastEventId }),
        ...(call.trace ?? trace),
      },
      ...defined({ body: call.text ?? JSON.stringify(call.body), signal: call.signal }),
    })
    const answer = sent.then((response) => {
      this.#hasAnswered = true
      return response
    })
    return untilAborted(answer, call.signal, discard)
  }
}

/** Cancels an answer that is no longer needed. */
function discard({ body }: FetchResponse): void {
  body
    ?.getReader()
    .cancel()
    .catch(() => undefined)
}

const isIdempotent = ({ method = 'GET' }: Call): boolean => method !== 'POST'

const lostError = (call: Call) => (isIdempotent(call) ? unreachable : outcomeUnknown)

/** Whether a repeated call has no further effect: the gateway recognises a start and a prompt by their key. */
export const isRepeatable = (call: Call): boolean => isIdempotent(call) || call.repeat === true || hasKey(call.body)

const hasKey = (body: unknown): boolean => asRecord(body)['idempotencyKey'] !== undefined

function queryOf({ query = {} }: Call): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query))
    for (const each of value === undefined ? [] : [value].flat()) params.append(key, String(each))
  return params.size === 0 ? '' : `?${params.toString()}`
}

async function problemOf(response: FetchResponse, url: string): Promise<AgentprotoError> {
  const body: unknown = await response.json().catch(() => undefined)
  if (isRecord(body) && 'code' in body) return fromProblem(body)
  return new AgentprotoError('internal', `${url} answered ${response.status}, not as a gateway would`, {
    hint: 'Check that the url is that of an agentproto gateway',
  })
}

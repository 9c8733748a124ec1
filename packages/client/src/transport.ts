import { AgentprotoError, fromProblem } from '@agentproto/contracts'
import type { ClientSettings, FetchResponse } from './client-options.js'
import { cancelled, connectionFault, outcomeUnknown, unreachable } from './connection-error.js'
import { pause } from './pause.js'

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Below the gateway's url, already encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

/** Waits before the second and third try of an idempotent call, in ms. */
const RETRY_PAUSES = [50, 250]

/** One gateway, reached with fetch: tokens, problem documents and broken connections are handled here. */
export class Transport {
  readonly settings: ClientSettings

  constructor(settings: ClientSettings) {
    this.settings = settings
  }

  /** The JSON of a successful answer, trusted to have the contract's shape; anything else throws. */
  async json<T>(call: Call): Promise<T> {
    const response = await this.#send(call, 'application/json')
    if (!response.ok) throw await problemOf(response, this.settings.url)
    return (await response.json()) as T
  }

  /**
   * Opens an event stream, once.
   * @returns the answer, with status 200
   */
  async stream(call: Call, lastEventId: string | undefined): Promise<FetchResponse> {
    const response = await this.#fetch(call, 'text/event-stream', lastEventId)
    if (!response.ok) throw await problemOf(response, this.settings.url)
    return response
  }

  /** Sends a body and takes an event stream for an answer; the failures of {@link Transport.json}. */
  async postForStream(call: Call): Promise<FetchResponse> {
    const response = await this.#send(call, 'text/event-stream')
    if (!response.ok) throw await problemOf(response, this.settings.url)
    return response
  }

  async #send(call: Call, accept: string): Promise<FetchResponse> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#fetch(call, accept)
      } catch (thrown) {
        if (call.signal?.aborted) throw cancelled(thrown)
        if (connectionFault(thrown) === 'refused') throw unreachable(this.settings.url, thrown)
        const wait = isIdempotent(call) ? RETRY_PAUSES[attempt] : undefined
        if (wait === undefined) throw this.#lost(call, thrown)
        await pause(this.settings.clock, wait, call.signal)
      }
    }
  }

  #lost(call: Call, thrown: unknown): AgentprotoError {
    const { url } = this.settings
    return isIdempotent(call) ? unreachable(url, thrown) : outcomeUnknown(url, thrown)
  }

  #fetch(call: Call, accept: string, lastEventId?: string): Promise<FetchResponse> {
    const { url, token, fetch } = this.settings
    return fetch(`${url}${call.path}${queryOf(call)}`, {
      method: call.method ?? 'GET',
      headers: {
        accept,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
      ...(call.signal === undefined ? {} : { signal: call.signal }),
    })
  }
}

const isIdempotent = ({ method = 'GET' }: Call): boolean => method !== 'POST'

function queryOf({ query = {} }: Call): string {
  const params = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) if (value !== undefined) params.set(key, String(value))
  return params.size === 0 ? '' : `?${params.toString()}`
}

async function problemOf(response: FetchResponse, url: string): Promise<AgentprotoError> {
  const body: unknown = await response.json().catch(() => undefined)
  if (isProblem(body)) return fromProblem(body)
  return new AgentprotoError('internal', `${url} answered ${response.status}, not as a gateway would`, {
    hint: 'Check that the url is that of an agentproto gateway',
  })
}

const isProblem = (body: unknown): boolean => typeof body === 'object' && body !== null && 'code' in body

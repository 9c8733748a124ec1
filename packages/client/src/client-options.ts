import type { Clock, TraceContext } from '@agentproto/contracts'

/**
 * The only function that the client calls, so that embedders can replace it: a subset of the global `fetch`, which a few lines
 * over `node:http` can provide.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>

export interface FetchInit {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
}

export interface FetchResponse {
  readonly ok: boolean
  readonly status: number
  json(): Promise<unknown>
  readonly body: { getReader(): FetchReader } | null
}

export interface FetchReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

/** The address of a gateway. */
export interface GatewayAddress {
  readonly url: string
  readonly token?: string | undefined
}

export interface ClientOptions {
  /** Where the gateway answers, e.g. `http://127.0.0.1:7646`; a path prefix is kept. */
  readonly url: string
  /** The bearer token; without one only `health()` works. */
  readonly token?: string
  /** Returns the current address, for a gateway that is gone or refuses the token; undefined or an error if unknown. */
  readonly locate?: () => Promise<GatewayAddress | undefined>
  /** Default: the global `fetch`. */
  readonly fetch?: Fetch
  /** How long, in ms, a follower tries to reconnect. Default 60 000. */
  readonly reconnectMs?: number
  /**
   * How long, in ms, a call waits for a gateway that has answered before and is gone. Only a call that was not sent, or that may be
   * sent twice, is made again; so is an answer to a request. Default 0: it fails at once.
   */
  readonly callRetryMs?: number
  /** A stream that is silent for this long, in ms, counts as broken; the gateway sends a comment every 25 s. Default 70 000. */
  readonly idleMs?: number
  readonly clock?: Clock
  /** The trace of calls without their own; sent as W3C `traceparent` and `tracestate`. */
  readonly trace?: TraceContext
}

/** The options with their defaults filled in. */
export type ClientSettings = Readonly<ReturnType<typeof clientSettings>>

export function clientSettings(options: ClientOptions) {
  return {
    address: addressOf(options),
    locate: options.locate ?? (async () => undefined),
    // Called as a bare function: browsers refuse a `fetch` whose `this` is not the window.
    fetch: options.fetch ?? ((url: string, init: FetchInit): Promise<FetchResponse> => fetch(url, init)),
    reconnectMs: options.reconnectMs ?? 60_000,
    callRetryMs: options.callRetryMs ?? 0,
    idleMs: options.idleMs ?? 70_000,
    clock: options.clock ?? waitingClock,
    trace: options.trace,
  }
}

/** The address without trailing slashes. */
export const addressOf = ({ url, token }: GatewayAddress): GatewayAddress => ({ url: url.replace(/\/+$/, ''), token })

/** Unlike those of the system clock its timers keep the process alive: a caller waits for the follower that pauses. */
const waitingClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return { cancel: () => clearTimeout(timer) }
  },
}

import type { Clock, Principal, Refusal } from '@agentproto/contracts'
import type { AdapterCatalog } from '@agentproto/contracts/agent'
import type { SessionService } from '@agentproto/contracts/wire'

/** Who calls, as the HTTP app has found out, and what the path allows. */
export interface AcpCaller {
  readonly by: Principal
  /** Aborts when the token of the caller ends: its connections end. */
  readonly ended?: AbortSignal | undefined
  /** Of `/acp/:agent`: only sessions of this adapter exist there. Absent for all. */
  readonly agent?: string | undefined
}

/** An accepted WebSocket. The members of a `WebSocket` of the package `ws` that are used: one fits as it is. */
export interface AcpSocket {
  /** Bytes that were not handed to the network yet. */
  readonly bufferedAmount: number
  /** @param sent called when the text was handed to the network, or cannot be */
  send(text: string, sent?: (error?: Error | null) => void): void
  ping(): void
  /** Closes with a code after what was sent before. */
  close(code?: number, reason?: string): void
  /** Ends it at once. */
  terminate(): void
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown
  on(event: 'close' | 'pong', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  /**
   * Sends what `send` was called with meanwhile in one write, which is several times as fast. Absent where the socket cannot;
   * `ws` alone cannot: its TCP socket is corked before and uncorked after.
   */
  together?(send: () => void): void
}

/** A place for one WebSocket. Exactly one of both is called. */
export interface AcpUpgrade {
  /** The header `Acp-Connection-Id` of the answer 101. */
  readonly connectionId: string
  accept(socket: AcpSocket): void
  /** Gives the place back: there was no upgrade. */
  reject(): void
}

/** ACP over the network: streamable HTTP and WebSockets. The HTTP app checks Host, Origin, token and scope before. */
export interface AcpEndpoint {
  /**
   * Answers one POST, GET or DELETE of streamable HTTP. The body is read here, within bounds.
   * @throws `request_limit_reached` where a caller has too many connections or streams, `shutting_down`
   */
  fetch(request: Request, caller: AcpCaller): Promise<Response>
  /** @throws `request_limit_reached` where a caller has too many connections, `shutting_down` */
  upgrade(caller: AcpCaller): AcpUpgrade
  /** Ends all connections; their sessions continue. Idempotent. */
  close(): Promise<void>
}

/** The sessions of the gateway, as the other surfaces use them. */
export type EndpointSessions = Pick<
  SessionService,
  | 'spawn'
  | 'list'
  | 'get'
  | 'prompt'
  | 'configure'
  | 'fork'
  | 'interrupt'
  | 'forget'
  | 'events'
  | 'follow'
  | 'requests'
  | 'answer'
  | 'watch'
>

export interface AcpEndpointDeps {
  readonly sessions: EndpointSessions
  readonly adapters: Pick<AdapterCatalog, 'list' | 'get'>
  /** Of the gateway. */
  readonly version: string
  readonly clock: Clock
  /** Tests lower them; default: those of the table of bounds. */
  readonly limits?: Partial<AcpLimits>
  /** Receives each call that the scope of its caller does not cover. Must not throw. */
  readonly onRefused?: (refusal: Refusal) => void
  /** Receives every error that is not one of ours. Must not throw. */
  readonly onError?: (error: unknown) => void
  /** Receives what cannot be reported to a client. Must not throw. */
  readonly onProblem?: (problem: string) => void
}

/** Bounds of the connections. Times are in milliseconds. */
export interface AcpLimits {
  /** Open at once, shared by the callers. */
  readonly connections: number
  /** Open sessions of one connection, and its open event streams beside that of the connection. */
  readonly sessionStreams: number
  /** Unanswered requests of one connection. */
  readonly openRequests: number
  /** Bytes of one message. */
  readonly messageBytes: number
  /** Characters of an id of a request or session. */
  readonly idChars: number
  /** Bytes that wait for a client; beyond it nothing more is read for it. */
  readonly outputBytes: number
  /** How long so much output may wait without any of it being taken. */
  readonly stallMs: number
  /** Within which a client sends `initialize`. */
  readonly handshakeMs: number
  /** Pause between two pings of a WebSocket. */
  readonly pingMs: number
  /** Within which a ping is answered. */
  readonly pongMs: number
  /** How long a connection of HTTP may have neither a stream nor a request. */
  readonly idleMs: number
}

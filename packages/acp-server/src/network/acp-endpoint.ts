import type { Clock, Refusal } from '@agentproto/contracts'
import type { AdapterCatalog } from '@agentproto/contracts/agent'
import type { AcpCaller, AcpService, AcpUpgrade, SessionService } from '@agentproto/contracts/wire'

/** ACP over the network: streamable HTTP and WebSockets. */
export interface AcpEndpoint extends AcpService {
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

import type { Clock, Refusal } from '@agentproto/contracts'
import type { AdapterCatalog } from '@agentproto/contracts/agent'
import type { ACP_BOUNDS, AcpCaller, AcpService, AcpUpgrade, SessionService } from '@agentproto/contracts/wire'

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
  /** The name of this host in its fleet; absent where there is none. */
  readonly host?: string
  /** Tests lower them; default: those of the table of bounds. */
  readonly limits?: Partial<AcpLimits>
  /** Receives each call that the scope of its caller does not cover. Must not throw. */
  readonly onRefused?: (refusal: Refusal) => void
  /** Receives every error that is not one of ours. Must not throw. */
  readonly onError?: (error: unknown) => void
  /** Receives what cannot be reported to a client. Must not throw. */
  readonly onProblem?: (problem: string) => void
}

/** The bounds of connections: those of the table, or what a test has instead. */
export type AcpLimits = Readonly<Record<keyof typeof ACP_BOUNDS, number>>

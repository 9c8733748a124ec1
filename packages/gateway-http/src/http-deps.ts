import type { Authenticate, Clock, Principal, Refusal } from '@agentproto/contracts'
import type {
  AcpService,
  ConsoleFiles,
  GatewayInfo,
  Services,
  SessionBounds,
  StreamStats,
} from '@agentproto/contracts/wire'
import type { Context, Hono } from 'hono'

/** The services and settings of the HTTP surface. The routes of a service that is absent do not exist. */
export interface HttpDeps
  extends
    Pick<Services, 'sessions' | 'adapters' | 'workspaces'>,
    Partial<Omit<Services, 'sessions' | 'adapters' | 'workspaces'>> {
  /** Returns the principal of a bearer token; compares in constant time. Without `browsers` cookies are ignored. */
  readonly authenticate: Authenticate
  /** A signal that aborts when the token of a principal ends, which ends its open streams and waits. */
  readonly revoked?: (by: Principal) => AbortSignal | undefined
  /** Of the gateway; shown by `/health`. */
  readonly version: string
  readonly clock: Clock
  /** Answers `/mcp`; without it the route does not exist. `ended` aborts when the token of the caller ends. */
  readonly mcp?: (request: Request, by: Principal, ended?: AbortSignal) => Promise<Response>
  /** Answers `/acp`, where a server can also open WebSockets; without it the routes do not exist. */
  readonly acp?: AcpService
  /** Answers `/metrics` in the text format of Prometheus; without it the route does not exist. */
  readonly metrics?: (streams: StreamStats) => Promise<string>
  /** The web console at `/console/`; without it the route does not exist. */
  readonly consoleFiles?: ConsoleFiles
  /** The document of `/openapi.json`; without it the route does not exist. */
  readonly openApi?: () => Promise<object>
  /** Host names beside loopback: `name` for any port, `name:port` for one. */
  readonly allowedHosts?: readonly string[]
  /** Whether a name belongs to the gateway, for names that change: in lower case, without a port. */
  readonly isOwnHost?: (name: string) => boolean
  /**
   * Address behind a proxy, with the path that the proxy takes off: `https://host.example/agents`. Its host is allowed, pages of
   * its origin alone may call there, and its cookies are for that path, and for TLS alone where the address is.
   */
  readonly publicUrl?: string
  /** Origins beside loopback and the gateway's own, whose pages may also read answers (CORS). */
  readonly allowedOrigins?: readonly string[]
  /** Receives errors that are not ours and were answered with 500. Must not throw. */
  readonly onError?: (error: unknown, where: { readonly method: string; readonly path: string }) => void
  /** Receives requests that were rejected before a service was called: 401 and 403. Must not throw. */
  readonly onRefused?: (refusal: Refusal) => void
  /** Milliseconds of silence after which a stream sends a comment; default 25 000 (AIP-46 §sse). */
  readonly keepAliveMs?: number
  /** Streams that may be open at once, shared as `FairShares` says; default 640. */
  readonly maxStreams?: number
  /** Answers `GET /gateway`; without it the route does not exist. */
  readonly gateway?: () => GatewayInfo
  /** Further members of `GET /health`, which anyone may read. */
  readonly health?: () => object
  /** Ends every open stream when it aborts, so that a server can close. */
  readonly signal?: AbortSignal
}

/** What the middleware sets on a request. */
export interface HttpEnv {
  readonly Variables: {
    readonly by: Principal
    /** The sessions that `by` may use; absent for all. */
    readonly within?: SessionBounds
    /** It was rejected before a service was called. */
    readonly rejected?: true
  }
}

/** A Hono app: `fetch(request)` answers, `request(path, init)` is for tests. */
export type HttpApp = Hono<HttpEnv>
export type HttpContext = Context<HttpEnv>

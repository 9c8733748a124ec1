import type {
  AdapterService,
  Authenticate,
  BrowserLogin,
  Clock,
  ErrorCode,
  PermissionService,
  Principal,
  SessionArchive,
  SessionBounds,
  SessionService,
  TokenService,
  WorkspaceService,
} from '@agentproto/contracts'
import type { Context, Hono } from 'hono'

/** What the HTTP surface is made of. */
export interface HttpDeps {
  readonly sessions: SessionService
  readonly adapters: AdapterService
  readonly workspaces: WorkspaceService
  /** Answers the `rules` of sessions and workspaces; without it those routes are not there. */
  readonly permissions?: PermissionService
  /** Tells whose a bearer token is; compares in constant time. */
  readonly authenticate: Authenticate
  /** The named tokens; without them `/tokens` is not there. */
  readonly tokens?: TokenService
  /** Lets browsers in by a code; without it `/auth` is not there, and cookies are nobody's. */
  readonly browsers?: BrowserLogin
  /** The stored sessions as documents; without it search, export, import, repair and prune are not there. */
  readonly archive?: SessionArchive
  /** A signal that aborts when a principal's token is revoked; its open streams end then. */
  readonly revoked?: (by: Principal) => AbortSignal | undefined
  /** Of the gateway; shown by `/health`. */
  readonly version: string
  readonly clock: Clock
  /** Answers `/mcp`; without it the route is not there. */
  readonly mcp?: (request: Request, by: Principal) => Promise<Response>
  /** What `/metrics` answers, in Prometheus' text format; without it the route is not there. */
  readonly metrics?: (streams: StreamStats) => Promise<string>
  /** The document that `/openapi.json` answers with; without it the route is not there. */
  readonly openApi?: () => Promise<object>
  /** Host names beyond the loopback ones: `name` for any port, `name:port` for one. */
  readonly allowedHosts?: readonly string[]
  /** Tells further names that are the gateway's own, as they change: in lower case, without a port. */
  readonly isOwnHost?: (name: string) => boolean
  /** Origins beyond the loopback ones and the gateway's own; these may also read answers across origins (CORS). */
  readonly allowedOrigins?: readonly string[]
  /** Told of what answered 500 without being one of our errors. Must not throw. */
  readonly onError?: (error: unknown, where: { readonly method: string; readonly path: string }) => void
  /** Told of who was turned away before any service was asked: 401 and 403. Must not throw. */
  readonly onRefused?: (refused: Refused) => void
  /** Milliseconds of silence after which a stream sends a comment; default 25 000 (AIP-46 §sse). */
  readonly keepAliveMs?: number
  /** Streams that may be open at once; default 512. */
  readonly maxStreams?: number
  /** Further members of `GET /health`, which anyone may read. */
  readonly health?: () => object
  /** Ends every open stream when it aborts, so that a server can close. */
  readonly signal?: AbortSignal
}

/** A request that was turned away at the door. */
export interface Refused {
  readonly code: ErrorCode
  /** Who it was, where that is known. */
  readonly by?: Principal
  readonly method: string
  /** Without its query. */
  readonly path: string
  /** Address of the other end of the connection; a proxy's, where one stands between. */
  readonly from?: string
}

/** The event streams of one app. */
export interface StreamStats {
  readonly open: number
  /** Those that were refused for want of room, since the start. */
  readonly refused: number
  /** Stored events that the slowest reader has not taken. */
  readonly behind: number
}

/** What our middleware knows of a request. */
export interface HttpEnv {
  readonly Variables: {
    readonly by: Principal
    /** The sessions that `by` reaches; absent for all. */
    readonly within?: SessionBounds
    /** It was rejected before a service was called. */
    readonly rejected?: true
  }
}

/** A Hono app: `fetch(request)` answers, `request(path, init)` is for tests. */
export type HttpApp = Hono<HttpEnv>
export type HttpContext = Context<HttpEnv>

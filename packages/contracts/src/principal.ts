import type { ErrorCode } from './errors.js'
import type { TraceContext } from './trace-context.js'

/** What a principal may do: read; drive sessions; change the gateway. Each scope includes the ones before it. */
export const SCOPES = ['read', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** The caller. Only its token decides who it is, never what the caller says. */
export type Principal = (OwnerPrincipal | TokenPrincipal | SessionPrincipal) & {
  /** The trace that the caller says the call is part of. It is passed on and logged; nothing depends on it. */
  readonly trace?: TraceContext
  /**
   * The host of the fleet that checked its token, if that was another one. Only the fleet sets it, for a call that a host signed;
   * the audit log has it.
   */
  readonly via?: string
}

/** The holder of the home's token, who may do everything. */
export interface OwnerPrincipal {
  readonly type: 'owner'
  readonly name: string
}

/** The holder of a named token. */
export interface TokenPrincipal {
  readonly type: 'token'
  /** The token's name. */
  readonly name: string
  readonly scope: Scope
  /** Slugs of the workspaces that it is bound to; absent for all. */
  readonly workspaces?: readonly string[]
  /**
   * The folder that each of these slugs had when the token was created: a slug that was given to another folder is not covered.
   * Absent where the slug alone counts.
   */
  readonly folders?: Readonly<Record<string, string>>
  /** When it expires, ISO-8601. Another host of the fleet begins nothing for it after that. */
  readonly expiresAt?: string
}

/** The agent of a session: it sees that session and its descendants, and drives the descendants if it may delegate. */
export interface SessionPrincipal {
  readonly type: 'session'
  /** `session <id>`. */
  readonly name: string
  readonly sessionId: string
  /** Whether its session was granted delegation. */
  readonly delegates: boolean
}

/** A request that was rejected before any service was called. */
export interface Refusal {
  readonly code: ErrorCode
  /** The caller, if known. */
  readonly by?: Principal
  readonly method?: string
  /** Without its query. */
  readonly path?: string
  /** Address of the other end of the connection; a proxy's, where one stands between. */
  readonly from?: string
  /** Of MCP. */
  readonly tool?: string
}

/** Returns the principal of a bearer token; undefined for an unknown token. */
export type Authenticate = (token: string) => Principal | undefined

import type { TraceContext } from './trace-context.js'

/** What a principal may do: read; drive sessions; change the gateway. Each scope includes the ones before it. */
export const SCOPES = ['read', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** The caller. Only its token decides who it is, never what the caller says. */
export type Principal = (OwnerPrincipal | TokenPrincipal | SessionPrincipal) & {
  /** The trace that the caller says the call is part of. It is passed on and logged; nothing depends on it. */
  readonly trace?: TraceContext
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

/** Returns the principal of a bearer token; undefined for an unknown token. */
export type Authenticate = (token: string) => Principal | undefined

/** A named token as it is listed. Its value is only returned when it is created. */
export interface NamedToken {
  readonly name: string
  readonly scope: Scope
  readonly workspaces?: readonly string[]
  /** ISO-8601. */
  readonly createdAt: string
  /** ISO-8601; absent if it was never rotated. */
  readonly rotatedAt?: string
  /** ISO-8601; absent if it does not expire. */
  readonly expiresAt?: string
}

/** A token with its value. */
export interface NewToken extends NamedToken {
  readonly token: string
}

/** The named tokens of a gateway. */
export interface TokenService {
  list(): Promise<readonly NamedToken[]>
  /**
   * @param request Its name, scope and bounds
   * @param by The caller, for the audit log
   * @returns The token with its value, which is not stored
   * @throws `token_exists`, `token_limit_reached`, `invalid_request` (an `admin` token with bounds), `storage_failed`
   */
  create(request: TokenRequest, by?: Principal): Promise<NewToken>
  /** Revokes a token and closes its open streams. @throws `token_not_found`, `storage_failed` */
  revoke(name: string, by?: Principal): Promise<void>
  /** Gives a token a new value; the old one becomes invalid. @throws `token_not_found`, `storage_failed` */
  rotate(name: string, by?: Principal): Promise<NewToken>
}

export interface TokenRequest {
  readonly name: string
  readonly scope: Scope
  readonly workspaces?: readonly string[] | undefined
  /** ISO-8601, when it expires. */
  readonly expiresAt?: string
}

/** Logs in browsers, whose pages must not see a token. */
export interface BrowserLogin {
  /**
   * @param by The caller, whose scope the browser gets
   * @returns A code that logs in one browser, once and within a short time
   * @throws `token_limit_reached` while too many codes are unused
   */
  code(by: Principal): BrowserCode
  /**
   * @returns The token for a code; undefined for a code that is unknown, used or expired
   * @throws `token_limit_reached`, `storage_failed`
   */
  exchange(code: string): Promise<BrowserToken | undefined>
}

export interface BrowserCode {
  readonly code: string
  /** ISO-8601. */
  readonly expiresAt: string
}

/** A named token for a browser's cookie. */
export interface BrowserToken {
  readonly token: string
  readonly name: string
  /** ISO-8601. */
  readonly expiresAt: string
  readonly maxAgeSeconds: number
}

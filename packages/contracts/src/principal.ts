import type { TraceContext } from './trace-context.js'

/** What a principal may do: look; drive sessions; or change the gateway itself. Each holds what is before it. */
export const SCOPES = ['read', 'operate', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

/** Who calls. Decided from the token alone, never from what the caller says of itself. */
export type Principal = (OwnerPrincipal | TokenPrincipal | SessionPrincipal) & {
  /** The trace that this call is part of, as its caller says: passed on and written down; nothing is decided by it. */
  readonly trace?: TraceContext
}

/** Whoever reads the home's token: may do everything. */
export interface OwnerPrincipal {
  readonly type: 'owner'
  readonly name: string
}

/** Whoever bears a named token. */
export interface TokenPrincipal {
  readonly type: 'token'
  /** The token's name. */
  readonly name: string
  readonly scope: Scope
  /** Slugs of the workspaces that it is bound to; absent for all. */
  readonly workspaces?: readonly string[]
}

/** The agent of one session: sees that session and its descendants, and drives these when it may delegate. */
export interface SessionPrincipal {
  readonly type: 'session'
  /** `session <id>`. */
  readonly name: string
  readonly sessionId: string
  /** Whether its session was granted delegation. */
  readonly delegates: boolean
}

/** Tells who a bearer token belongs to; undefined for a token that nobody has. */
export type Authenticate = (token: string) => Principal | undefined

/** A named token as it is listed; its value is told once, when it is made. */
export interface NamedToken {
  readonly name: string
  readonly scope: Scope
  readonly workspaces?: readonly string[]
  /** ISO-8601. */
  readonly createdAt: string
  /** ISO-8601; absent for one that was never rotated. */
  readonly rotatedAt?: string
  /** ISO-8601, when it ends by itself; absent for one that does not. */
  readonly expiresAt?: string
}

/** A token with its value, as only its maker sees it. */
export interface NewToken extends NamedToken {
  readonly token: string
}

/** The named tokens of a gateway. */
export interface TokenService {
  list(): Promise<readonly NamedToken[]>
  /**
   * @param request Its name, scope and bounds
   * @param by Who asks, for the audit log; so below
   * @returns The token with its value, which is told this once and not stored
   * @throws `token_exists`, `token_limit_reached`, `invalid_request` (an `admin` token with bounds), `storage_failed`
   */
  create(request: TokenRequest, by?: Principal): Promise<NewToken>
  /** Ends a token; its open streams end with it. @throws `token_not_found`, `storage_failed` */
  revoke(name: string, by?: Principal): Promise<void>
  /** Gives a token a new value; the old one is nobody's from then on. @throws `token_not_found`, `storage_failed` */
  rotate(name: string, by?: Principal): Promise<NewToken>
}

export interface TokenRequest {
  readonly name: string
  readonly scope: Scope
  readonly workspaces?: readonly string[] | undefined
  /** ISO-8601, when it ends by itself. */
  readonly expiresAt?: string
}

/** Lets browsers in, whose pages should not see a token. */
export interface BrowserLogin {
  /**
   * @param by Who may let one in
   * @returns A code that lets in one browser, once and soon
   * @throws `token_limit_reached` while too many wait to be used
   */
  code(by: Principal): BrowserCode
  /**
   * @returns The token that a code stands for; undefined for one that nobody has, that was used or that is too old
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

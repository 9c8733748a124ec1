import type { Principal } from '../principal.js'
import type { BrowserCodeRequest } from './host-requests.js'
import type { BrowserCode, Caller, CreatedTokens, NamedToken, NewToken, RotatedToken } from './host-responses.js'

/** The named tokens of a gateway. */
export interface TokenService {
  list(): Promise<readonly NamedToken[]>
  /**
   * @param request Its name, scope and bounds
   * @param by The caller; if that is a named token, the new one ends with it
   * @returns The token with its value, which is not stored
   * @throws `token_exists`, `token_limit_reached`, `workspace_not_found`, `invalid_request` (an `admin` token with
   *   bounds), `unauthorized` if the caller's token has ended, `storage_failed`
   */
  create(request: TokenRequest, by?: Principal): Promise<NewToken>
  /**
   * Revokes a token and those that it created, and closes their open streams.
   * @throws `token_not_found`, `storage_failed`
   */
  revoke(name: string, by?: Principal, options?: EndOptions): Promise<CreatedTokens>
  /**
   * Gives a token a new value; the old one becomes invalid, and the tokens that it created end.
   * @throws `token_not_found`, `storage_failed`
   */
  rotate(name: string, by?: Principal, options?: EndOptions): Promise<RotatedToken>
}

export interface EndOptions {
  /** The tokens that it created stay valid. After a revocation they are its own creator's. */
  readonly keepCreated?: boolean | undefined
}

export interface TokenRequest extends Pick<NamedToken, 'name' | 'scope' | 'expiresAt'> {
  readonly workspaces?: readonly string[] | undefined
}

/** Logs in browsers, whose pages must not see a token. */
export interface BrowserLogin {
  /**
   * @param by The caller; the code ends with its token
   * @param request What the browser may do; default: everything, as `admin`
   * @returns A code that logs in one browser, once and within a short time
   * @throws `token_limit_reached` while too many codes are unused; `invalid_request` for an `admin` with bounds
   */
  code(by: Principal, request?: BrowserCodeRequest): BrowserCode
  /**
   * @returns The token for a code; undefined for a code that is unknown, used or expired
   * @throws `token_limit_reached`, `storage_failed`
   */
  exchange(code: string): Promise<BrowserToken | undefined>
  /**
   * Ends a login: its token, and the streams that are open with it. What it created stays, as when it expires.
   * @throws `token_not_found` for a caller that is no named token, `storage_failed`
   */
  logOut(by: Principal): Promise<void>
  /** What the caller is and may do. */
  caller(by: Principal): Caller
}

/** A named token for a browser's cookie. */
export interface BrowserToken {
  readonly token: string
  readonly name: string
  /** ISO-8601. */
  readonly expiresAt: string
  readonly maxAgeSeconds: number
}

import type { Principal, SessionPrincipal } from '@agentproto/contracts'
import { isToken, newToken, tokenDigest, tokenId } from './token-format.js'

interface Held {
  readonly digest: Buffer
  readonly principal: SessionPrincipal
  readonly ended: AbortController
}

/** Tokens of sessions' agents: one a start, in memory, revoked with the session; what one allows never changes. */
export class SessionTokens {
  /** By the id in the token. */
  readonly #held = new Map<string, Held>()

  /** Creates the token for a start; the token of an earlier start is revoked. */
  mint(sessionId: string, delegates: boolean): string {
    this.revoke(sessionId)
    const { token, id } = newToken('s')
    const principal: SessionPrincipal = { type: 'session', name: `session ${sessionId}`, sessionId, delegates }
    this.#held.set(id, { digest: tokenDigest(token), principal, ended: new AbortController() })
    return token
  }

  /** The principal of a token; undefined if it is none of these. */
  authenticate(token: string): Principal | undefined {
    const found = this.#held.get(tokenId('s', token) ?? '')
    return found !== undefined && isToken(token, found.digest) ? found.principal : undefined
  }

  /** Idempotent. */
  revoke(sessionId: string): void {
    for (const [id, { principal, ended }] of this.#held) {
      if (principal.sessionId !== sessionId) continue
      ended.abort()
      this.#held.delete(id)
    }
  }

  /** A signal that aborts when the token of a principal is revoked. */
  revoked(by: SessionPrincipal): AbortSignal {
    for (const { principal, ended } of this.#held.values()) if (principal === by) return ended.signal
    // It was revoked between its check and this call.
    return AbortSignal.abort()
  }
}

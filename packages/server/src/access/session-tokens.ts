import type { Principal, SessionPrincipal } from '@agentproto/contracts'
import { isToken, newToken, tokenDigest, tokenId } from './token-format.js'

/** Where values are registered that must not appear in logs and events. */
export interface Redactor {
  add(value: string): void
  remove(value: string): void
}

interface Held {
  readonly digest: Buffer
  readonly principal: SessionPrincipal
  readonly ended: AbortController
  readonly token: string
}

/**
 * Tokens of the agents of sessions: one for each start, in memory only, revoked with the session. What a token allows is
 * fixed when it is created.
 */
export class SessionTokens {
  readonly #redactor: Redactor
  readonly #byId = new Map<string, Held>()
  readonly #idOf = new Map<string, string>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Creates the token for a start; the token of an earlier start is revoked. */
  mint(sessionId: string, delegates: boolean): string {
    this.revoke(sessionId)
    const { token, id } = newToken('s')
    const principal: SessionPrincipal = { type: 'session', name: `session ${sessionId}`, sessionId, delegates }
    // It gives access to more than its own session, so parts of it are redacted too, not only its shape.
    if (delegates) this.#redactor.add(token)
    this.#byId.set(id, { digest: tokenDigest(token), principal, ended: new AbortController(), token })
    this.#idOf.set(sessionId, id)
    return token
  }

  /** The principal of a token; undefined if it is none of these. */
  authenticate(token: string): Principal | undefined {
    const found = this.#byId.get(tokenId('s', token) ?? '')
    return found !== undefined && isToken(token, found.digest) ? found.principal : undefined
  }

  /** Idempotent. */
  revoke(sessionId: string): void {
    const id = this.#idOf.get(sessionId)
    if (id === undefined) return
    this.#idOf.delete(sessionId)
    const held = this.#byId.get(id)
    if (held === undefined) return
    held.ended.abort()
    this.#redactor.remove(held.token)
    this.#byId.delete(id)
  }

  /** A signal that aborts when the token of a principal is revoked. */
  revoked(by: SessionPrincipal): AbortSignal {
    const id = this.#idOf.get(by.sessionId)
    const held = id === undefined ? undefined : this.#byId.get(id)
    return held?.principal === by ? held.ended.signal : AbortSignal.abort()
  }
}

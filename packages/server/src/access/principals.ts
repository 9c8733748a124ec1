import type { Authenticate, Principal } from '@agentproto/contracts'
import { authenticateOwner } from './owner-token.js'
import type { SessionTokens } from './session-tokens.js'
import type { TokenStore } from './token-store.js'

/** Everybody who may call a gateway. */
export class Principals {
  readonly #owner: Authenticate
  readonly #named: TokenStore
  readonly #sessions: SessionTokens

  constructor(ownerToken: string, named: TokenStore, sessions: SessionTokens) {
    this.#owner = authenticateOwner(ownerToken)
    this.#named = named
    this.#sessions = sessions
  }

  /** Whose a token is. The owner is asked first: most calls are the owner's, and cost one hash. */
  authenticate(token: string): Principal | undefined {
    return this.#owner(token) ?? this.#named.authenticate(token) ?? this.#sessions.authenticate(token)
  }

  /** Aborts when the token of a principal ends; the owner's does not. */
  revoked(by: Principal): AbortSignal | undefined {
    return by.type === 'session' ? this.#sessions.revoked(by) : this.#named.revoked(by)
  }
}

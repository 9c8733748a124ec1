import type { Authenticate, Clock, Principal, TokenService } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { Audit } from '../audit/audit.js'
import { authenticateOwner, ownerToken } from './owner-token.js'
import { type Redactor, SessionTokens } from './session-tokens.js'
import { TokenStore } from './token-store.js'

export interface AccessOptions {
  readonly clock: Clock
  readonly layout: HomeLayout
  /** Tokens are not stored. */
  readonly inMemory: boolean
  /** The owner's token. Default: the one in the home, created at the first start. */
  readonly token?: string
}

/** Who may call a gateway. */
export interface Access {
  /** The owner's token. */
  readonly token: string
  readonly tokens: TokenService
  readonly sessionTokens: SessionTokens
  /** The principal of a token. */
  readonly authenticate: Authenticate
  /** A signal that aborts when the token of a principal ends; the owner's does not. */
  revoked(by: Principal): AbortSignal | undefined
}

interface Reporters {
  readonly redactor: Redactor
  readonly onProblem: (problem: string) => void
  readonly audit: Audit
}

export function openAccess(options: AccessOptions, { redactor, onProblem, audit }: Reporters): Access {
  const { clock, layout, inMemory } = options
  const token = options.token ?? (inMemory ? crypto.randomUUID() : ownerToken(layout.token))
  const owner = authenticateOwner(token)
  const named = new TokenStore({ path: inMemory ? undefined : layout.tokens, clock, onProblem })
  const sessionTokens = new SessionTokens(redactor)
  return {
    token,
    tokens: audit.wrap('tokens', named),
    sessionTokens,
    // The owner first: most calls are the owner's, and its check costs no hash.
    authenticate: (given) => owner(given) ?? named.authenticate(given) ?? sessionTokens.authenticate(given),
    revoked: (by) => (by.type === 'session' ? sessionTokens.revoked(by) : named.revoked(by)),
  }
}

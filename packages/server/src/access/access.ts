import type { Clock, HomeLayout, TokenService } from '@agentproto/contracts'
import type { Audit } from '../audit/audit.js'
import { ownerToken } from './owner-token.js'
import { Principals } from './principals.js'
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
  readonly principals: Principals
}

interface Reporters {
  readonly redactor: Redactor
  readonly onProblem: (problem: string) => void
  readonly audit: Audit
}

export function openAccess(options: AccessOptions, { redactor, onProblem, audit }: Reporters): Access {
  const { clock, layout, inMemory } = options
  const token = options.token ?? (inMemory ? crypto.randomUUID() : ownerToken(layout.token))
  const named = new TokenStore({ path: inMemory ? undefined : layout.tokens, clock, onProblem })
  const sessionTokens = new SessionTokens(redactor)
  return {
    token,
    tokens: audit.wrap('tokens', named),
    sessionTokens,
    principals: new Principals(token, named, sessionTokens),
  }
}

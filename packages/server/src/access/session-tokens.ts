import type { Principal, SessionPrincipal } from '@agentproto/contracts'
import type { KeptToken, KeptTokens } from './kept-tokens.js'
import { isToken, newToken, tokenDigest, tokenId } from './token-format.js'

interface Held {
  readonly digest: Buffer
  readonly principal: SessionPrincipal
  readonly ended: AbortController
}

/**
 * Tokens of sessions' agents: one a start, revoked with the session; what one allows never changes. They are in memory; of agents
 * that may outlive the gateway, their digests are also in a file.
 */
export class SessionTokens {
  /** By the id in the token. */
  readonly #held = new Map<string, Held>()
  readonly #file: KeptTokens | undefined
  /** Of an earlier gateway: none of them is valid before its agent is adopted. They stay in the file until it is known. */
  #earlier: readonly KeptToken[]

  /** @param file absent where no agent outlives the gateway */
  constructor(file?: KeptTokens) {
    this.#file = file
    this.#earlier = file?.read() ?? []
  }

  /** Creates the token for a start; the token of an earlier start is revoked. */
  mint(sessionId: string, delegates: boolean): string {
    this.#remove(sessionId)
    const { token, id } = newToken('s')
    this.#hold({ id, sessionId, delegates, digest: tokenDigest(token) })
    this.#store()
    return token
  }

  /** The agent of an earlier gateway goes on: its token is valid again. */
  restore(sessionId: string): void {
    for (const kept of this.#earlier) if (kept.sessionId === sessionId) this.#hold(kept)
    this.#earlier = this.#earlier.filter((kept) => kept.sessionId !== sessionId)
  }

  /** All agents that go on were adopted: the tokens of the others are forgotten. */
  forgetEarlier(): void {
    this.#earlier = []
    this.#store()
  }

  /** The principal of a token; undefined if it is none of these. */
  authenticate(token: string): Principal | undefined {
    const found = this.#held.get(tokenId('s', token) ?? '')
    return found !== undefined && isToken(token, found.digest) ? found.principal : undefined
  }

  /** Idempotent. */
  revoke(sessionId: string): void {
    if (this.#remove(sessionId)) this.#store()
  }

  /** A signal that aborts when the token of a principal is revoked. */
  revoked(by: SessionPrincipal): AbortSignal {
    for (const { principal, ended } of this.#held.values()) if (principal === by) return ended.signal
    // It was revoked between its check and this call.
    return AbortSignal.abort()
  }

  /** As {@link revoked}, by the session: also for a copy of the principal. Undefined where it has none. */
  endOf(sessionId: string): AbortSignal | undefined {
    for (const { principal, ended } of this.#held.values()) if (principal.sessionId === sessionId) return ended.signal
    return undefined
  }

  #hold({ id, sessionId, delegates, digest }: KeptToken): void {
    const principal: SessionPrincipal = { type: 'session', name: `session ${sessionId}`, sessionId, delegates }
    this.#held.set(id, { digest, principal, ended: new AbortController() })
  }

  /** @returns whether there was one */
  #remove(sessionId: string): boolean {
    const held = [...this.#held].filter(([, { principal }]) => principal.sessionId === sessionId)
    for (const [id, { ended }] of held) {
      ended.abort()
      this.#held.delete(id)
    }
    const earlier = this.#earlier.filter((kept) => kept.sessionId !== sessionId)
    const isKnown = held.length > 0 || earlier.length < this.#earlier.length
    this.#earlier = earlier
    return isKnown
  }

  #store(): void {
    const held = [...this.#held].map(([id, { digest, principal }]): KeptToken => {
      const { sessionId, delegates } = principal
      return { id, sessionId, delegates, digest }
    })
    this.#file?.write([...held, ...this.#earlier])
  }
}

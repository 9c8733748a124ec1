import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Principal, SessionPrincipal } from '@agentproto/contracts'
import type { Redactor } from '@agentproto/secrets'

/**
 * Tokens of the agents of sessions: one for each start, in memory alone, gone with the session. What one allows is
 * fixed when it is made.
 */

interface Held {
  readonly digest: Buffer
  readonly principal: SessionPrincipal
  readonly ended: AbortController
  /** Takes its value out of the redactor again. */
  readonly forget: () => void
}

/** As `agp_t_…` of a named token, so that logs take it out by its shape. */
const SHAPE = /^agp_s_([0-9a-f]{16})_[A-Za-z0-9_-]{43}$/

export class SessionTokens {
  readonly #redactor: Redactor
  readonly #byId = new Map<string, Held>()
  readonly #idOf = new Map<string, string>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  /** Makes the token of a start; the one of an earlier start ends. */
  mint(sessionId: string, delegates: boolean): string {
    this.revoke(sessionId)
    const id = randomBytes(8).toString('hex')
    const token = `agp_s_${id}_${randomBytes(32).toString('base64url')}`
    const principal: SessionPrincipal = { type: 'session', name: `session ${sessionId}`, sessionId, delegates }
    // It opens more than the session itself, so its pieces too are looked for in what the agent says, not only its shape.
    if (delegates) this.#redactor.add(token)
    const forget = (): void => this.#redactor.remove(token)
    this.#byId.set(id, { digest: digest(token), principal, ended: new AbortController(), forget })
    this.#idOf.set(sessionId, id)
    return token
  }

  /** Whose a token is; undefined when it is none of these. */
  authenticate(token: string): Principal | undefined {
    const id = SHAPE.exec(token)?.[1]
    const found = id === undefined ? undefined : this.#byId.get(id)
    if (found === undefined || !timingSafeEqual(digest(token), found.digest)) return undefined
    return found.principal
  }

  /** Idempotent. */
  revoke(sessionId: string): void {
    const id = this.#idOf.get(sessionId)
    if (id === undefined) return
    this.#idOf.delete(sessionId)
    const held = this.#byId.get(id)
    held?.ended.abort()
    held?.forget()
    this.#byId.delete(id)
  }

  /** Aborts when the token of a principal ends. */
  revoked(by: SessionPrincipal): AbortSignal {
    const id = this.#idOf.get(by.sessionId)
    const held = id === undefined ? undefined : this.#byId.get(id)
    return held?.principal === by ? held.ended.signal : AbortSignal.abort()
  }
}

const digest = (token: string): Buffer => createHash('sha256').update(token).digest()

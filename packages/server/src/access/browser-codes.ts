import { randomBytes } from 'node:crypto'
import {
  AgentprotoError,
  type BrowserCode,
  type BrowserLogin,
  type Clock,
  type Principal,
  type TokenService,
} from '@agentproto/contracts'
import { newToken, tokenDigest } from './token-format.js'

const CODE_MS = 60_000
const LOGIN_MS = 12 * 60 * 60 * 1_000
/** Codes that are not used yet. */
const MAX_CODES = 16

interface PendingCode {
  readonly until: number
  readonly by: Principal
}

type Revoked = (by: Principal) => AbortSignal | undefined

/** Browser logins: a code, valid once and for a minute, is exchanged for a named token that expires by itself. */
export class BrowserCodes implements BrowserLogin {
  readonly #tokens: TokenService
  readonly #clock: Clock
  readonly #revoked: Revoked
  /** By digest, so that the duration of a lookup reveals nothing about a code. */
  readonly #pending = new Map<string, PendingCode>()

  /** @param revoked a signal that aborts when the token of a principal ends: its codes end with it */
  constructor(tokens: TokenService, clock: Clock, revoked: Revoked) {
    this.#tokens = tokens
    this.#clock = clock
    this.#revoked = revoked
  }

  code(by: Principal): BrowserCode {
    const now = this.#clock.now()
    for (const [digest, { until }] of this.#pending) if (until <= now) this.#pending.delete(digest)
    if (this.#pending.size >= MAX_CODES) throw tooMany()
    const { token: code } = newToken('c')
    this.#pending.set(digestOf(code), { until: now + CODE_MS, by })
    return { code, expiresAt: at(now + CODE_MS) }
  }

  async exchange(code: string): ReturnType<BrowserLogin['exchange']> {
    const digest = digestOf(code)
    const pending = this.#pending.get(digest)
    this.#pending.delete(digest)
    const now = this.#clock.now()
    if (pending === undefined || pending.until <= now || this.#revoked(pending.by)?.aborted) return undefined
    const expiresAt = at(now + LOGIN_MS)
    const name = `browser-${randomBytes(4).toString('hex')}`
    const { token } = await this.#tokens.create({ name, scope: 'admin', expiresAt }, pending.by)
    return { token, name, expiresAt, maxAgeSeconds: LOGIN_MS / 1_000 }
  }
}

const at = (time: number): string => new Date(time).toISOString()
const digestOf = (code: string): string => tokenDigest(code).toString('hex')

const tooMany = (): AgentprotoError =>
  new AgentprotoError('token_limit_reached', `There are ${MAX_CODES} unused login codes, the maximum`, {
    hint: `Use one, or wait: each expires after ${CODE_MS / 1_000} s`,
  })

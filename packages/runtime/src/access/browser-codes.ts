import { createHash, randomBytes } from 'node:crypto'
import {
  AgentprotoError,
  type BrowserCode,
  type BrowserLogin,
  type Clock,
  type Principal,
  type TokenService,
} from '@agentproto/contracts'

const CODE_MS = 60_000
const LOGIN_MS = 12 * 60 * 60 * 1_000
/** Codes that nobody has used yet. */
const MAX_CODES = 16

interface Waiting {
  readonly until: number
  readonly by: Principal
}

/** Lets browsers in: a code, once and soon, for a named token that ends by itself and is listed and revoked with the others. */
export class BrowserCodes implements BrowserLogin {
  readonly #tokens: TokenService
  readonly #clock: Clock
  /** By digest, so that the time of a look tells nothing of a code. */
  readonly #waiting = new Map<string, Waiting>()

  constructor(tokens: TokenService, clock: Clock) {
    this.#tokens = tokens
    this.#clock = clock
  }

  code(by: Principal): BrowserCode {
    const now = this.#clock.now()
    for (const [digest, { until }] of this.#waiting) if (until <= now) this.#waiting.delete(digest)
    if (this.#waiting.size >= MAX_CODES) throw tooMany()
    const code = `agp_c_${randomBytes(8).toString('hex')}_${randomBytes(32).toString('base64url')}`
    this.#waiting.set(digestOf(code), { until: now + CODE_MS, by })
    return { code, expiresAt: at(now + CODE_MS) }
  }

  async exchange(code: string): ReturnType<BrowserLogin['exchange']> {
    const digest = digestOf(code)
    const waiting = this.#waiting.get(digest)
    this.#waiting.delete(digest)
    const now = this.#clock.now()
    if (waiting === undefined || waiting.until <= now) return undefined
    const expiresAt = at(now + LOGIN_MS)
    const name = `browser-${randomBytes(4).toString('hex')}`
    const { token } = await this.#tokens.create({ name, scope: 'admin', expiresAt }, waiting.by)
    return { token, name, expiresAt, maxAgeSeconds: LOGIN_MS / 1_000 }
  }
}

const at = (time: number): string => new Date(time).toISOString()
const digestOf = (code: string): string => createHash('sha256').update(code).digest('hex')

const tooMany = (): AgentprotoError =>
  new AgentprotoError('token_limit_reached', `${MAX_CODES} codes wait to be used, as many as may`, {
    hint: `Use one, or wait: each ends after ${CODE_MS / 1_000} s`,
  })

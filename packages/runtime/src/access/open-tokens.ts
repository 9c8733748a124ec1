import { systemClock, type TokenService } from '@agentproto/contracts'
import { mkdirSync } from 'node:fs'
import type { GatewayOptions } from '../gateway-options.js'
import { lockHome } from '../home-lock.js'
import { auditedTokens } from '../audit/audited.js'
import { offlineLog } from '../audit/offline-audit.js'
import { TokenStore } from './token-store.js'
import { layoutOf } from '../with-config.js'

/** The tokens of a home that no gateway serves; each call holds its lock. */
export function openTokens(options: Pick<GatewayOptions, 'home' | 'env' | 'clock' | 'onProblem'> = {}): TokenService {
  const { root, tokens: path } = layoutOf(options)
  const log = offlineLog(options)
  const { clock = systemClock, onProblem = (): void => undefined } = options

  /** @throws `daemon_running`: a gateway has its tokens in memory, and has to be asked */
  async function locked<T>(work: (tokens: TokenService) => Promise<T>): Promise<T> {
    mkdirSync(root, { recursive: true, mode: 0o700 })
    const lock = lockHome(`${root}/daemon.lock`)
    try {
      return await work(auditedTokens(new TokenStore({ path, clock, onProblem }), log))
    } finally {
      lock.release()
    }
  }

  return {
    list: () => locked((tokens) => tokens.list()),
    create: (request, by) => locked((tokens) => tokens.create(request, by)),
    revoke: (name, by) => locked((tokens) => tokens.revoke(name, by)),
    rotate: (name, by) => locked((tokens) => tokens.rotate(name, by)),
  }
}

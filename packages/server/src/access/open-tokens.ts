import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { type Clock, systemClock, type TokenService } from '@agentproto/contracts'
import { homeFrom, homeLayout } from '@agentproto/contracts/agent'
import { openOfflineAudit } from '../audit/offline-audit.js'
import { lockHome } from '../home-lock.js'
import { TokenStore } from './token-store.js'

export interface OpenTokensOptions {
  /** Folder of the gateway's state. Default: `AGENTPROTO_HOME`, else `~/.agentproto`. */
  readonly home?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  readonly onProblem?: (problem: string) => void
}

/** The named tokens of a home without a running gateway; each call holds the home's lock. */
export function openTokens(options: OpenTokensOptions = {}): TokenService {
  const { home, env = process.env, clock = systemClock, onProblem = () => undefined } = options
  const { root, tokens: path } = homeLayout(home ?? homeFrom(env, homedir()))

  /** @throws `daemon_running`: a running gateway has its tokens in memory, and must make the change itself */
  async function locked<T>(work: (tokens: TokenService) => Promise<T>): Promise<T> {
    mkdirSync(root, { recursive: true, mode: 0o700 })
    const lock = lockHome(`${root}/daemon.lock`)
    const audit = openOfflineAudit(options)
    try {
      return await work(audit.wrap('tokens', new TokenStore({ path, clock, onProblem })))
    } finally {
      await audit.close()
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

import { homedir } from 'node:os'
import { systemClock, type TokenService, type WorkspaceService } from '@agentproto/contracts'
import { homeFrom, homeLayout } from '@agentproto/contracts/agent'
import { type OfflineOptions, openOfflineAudit } from '../audit/offline-audit.js'
import { lockBriefly } from '../home/open-home.js'
import { TokenStore } from './token-store.js'

export interface OpenTokensOptions extends OfflineOptions {
  /** Those of the home. */
  readonly workspaces: Pick<WorkspaceService, 'list'>
}

/** The named tokens of a home without a running gateway; each call holds the home's lock. */
export function openTokens(options: OpenTokensOptions): TokenService {
  const { home, env = process.env, clock = systemClock, onProblem = () => undefined, workspaces } = options
  const { root, tokens: path } = homeLayout(home ?? homeFrom(env, homedir()))

  /** @throws `daemon_running`: a running gateway has its tokens in memory, and must make the change itself */
  async function locked<T>(work: (tokens: TokenService) => Promise<T>): Promise<T> {
    const lock = await lockBriefly(root, { clock })
    const audit = openOfflineAudit(options)
    try {
      return await work(audit.wrap('tokens', new TokenStore({ path, clock, onProblem, workspaces })))
    } finally {
      await audit.close()
      lock.release()
    }
  }

  return {
    list: () => locked((tokens) => tokens.list()),
    create: (request, by) => locked((tokens) => tokens.create(request, by)),
    revoke: (name, by, how) => locked((tokens) => tokens.revoke(name, by, how)),
    rotate: (name, by, how) => locked((tokens) => tokens.rotate(name, by, how)),
  }
}

import { homedir } from 'node:os'
import type { TokenService } from '@agentproto/contracts'
import { homeFrom, homeLayout } from '@agentproto/contracts/agent'
import { type OfflineOptions, openTokens as openTokensOf } from '@agentproto/server'
import { createWorkspaces } from '@agentproto/workspaces'

/** The named tokens of a home without a running gateway; each call holds the home's lock. */
export function openTokens(options: OfflineOptions = {}): TokenService {
  const { env = process.env, onProblem } = options
  const { root: home } = homeLayout(options.home ?? homeFrom(env, homedir()))
  const workspaces = createWorkspaces({ home, defaultCwd: home, ...(onProblem && { onWarning: onProblem }) })
  return openTokensOf({ ...options, workspaces })
}

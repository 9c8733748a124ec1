import { access } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import type { AuthState, SecretStatus } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'
import type { Ledger } from './ledger.js'

export interface AuthEvidence {
  readonly manifest: AgentCliManifest
  readonly env: Readonly<Record<string, string | undefined>>
  readonly ledger: Ledger
  /** The secrets that the manifest declares. */
  readonly secrets: readonly SecretStatus[]
}

/**
 * Whether an agent is logged in, as far as can be told without running anything: by its variables, its
 * secrets, its files, and what the last login or expiry left in the ledger. `unknown` where the manifest
 * names nothing to look at.
 */
export async function authState({ manifest, env, ledger, secrets }: AuthEvidence): Promise<AuthState> {
  const { auth } = manifest
  if (auth === undefined) return 'not_needed'
  if (auth.state.env.some((name) => Boolean(env[name]))) return 'authed'
  // Any one: where several are declared, they are usually of different providers.
  if (secrets.some(({ set }) => set)) return 'authed'
  if (ledger.auth !== undefined) return ledger.auth.state
  for (const path of auth.state.paths) if (await exists(path, env)) return 'authed'
  const canTell =
    auth.state.env.length + auth.state.paths.length + secrets.length > 0 || auth.login?.completesWhen !== undefined
  return canTell ? 'unauthed' : 'unknown'
}

async function exists(path: string, env: AuthEvidence['env']): Promise<boolean> {
  const expanded = path
    .replaceAll(/\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?/g, (_, name: string) => env[name] ?? '')
    .replace(/^~(?=\/|$)/, env['HOME'] ?? '~')
  const absolute = isAbsolute(expanded) ? expanded : join(env['HOME'] ?? '/', expanded)
  try {
    await access(absolute)
    return true
  } catch {
    return false
  }
}

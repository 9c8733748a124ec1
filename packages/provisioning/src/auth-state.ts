import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { SecretStatus } from '@agentproto/contracts/agent'
import type { AuthState } from '@agentproto/contracts/wire'
import { agentHome } from '@agentproto/driver-agent-cli/installation'
import { type AgentRecord, secretStates } from './agent-record.js'

/**
 * Whether an agent is logged in, as far as its variables, secrets and files and the ledger show; nothing is run. `unknown`
 * where the manifest names nothing to check.
 * @param secrets those that the manifest declares
 */
export async function authState(record: AgentRecord, secrets: readonly SecretStatus[]): Promise<AuthState> {
  const { host, ledger } = record
  const { manifest } = record.adapter
  const { auth } = manifest
  if (auth === undefined) return 'not_needed'
  if (hasKey(record, secrets)) return 'authed'
  if (ledger.auth !== undefined) return ledger.auth.state
  const env = { ...host.env, ...agentHome(manifest, host)?.variables }
  if (auth.state.paths.some((path) => existsSync(placeOf(path, env)))) return 'authed'
  const isKnowable =
    auth.state.env.length + auth.state.paths.length + secrets.length > 0 || auth.login?.completesWhen !== undefined
  return isKnowable ? 'unauthed' : 'unknown'
}

/**
 * The same, with the manifest's own check where it has one. A key counts as a login; the check of the login command often
 * does not see it.
 * @param completed runs the check
 */
export async function checkedAuthState(
  record: AgentRecord,
  completed: () => Promise<boolean | undefined>,
): Promise<AuthState> {
  const secrets = await secretStates(record)
  const state = await authState(record, secrets)
  if (state === 'not_needed' || hasKey(record, secrets)) return state
  const answer = await completed()
  return answer === undefined ? state : answer ? 'authed' : 'unauthed'
}

/** One is enough: several declared keys usually belong to different providers. */
const hasKey = ({ adapter, host: { env } }: AgentRecord, secrets: readonly SecretStatus[]): boolean =>
  (adapter.manifest.auth?.state.env ?? []).some((name) => Boolean(env[name])) || secrets.some(({ set }) => set)

/** A path of a manifest with its variables; a relative one is in the user's home. */
function placeOf(path: string, env: Readonly<Record<string, string | undefined>>): string {
  const expanded = path
    .replaceAll(/\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?/g, (_, name: string) => env[name] ?? '')
    .replace(/^~(?=\/|$)/, env['HOME'] ?? '~')
  return isAbsolute(expanded) ? expanded : join(env['HOME'] ?? '/', expanded)
}

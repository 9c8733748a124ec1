import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isAgentprotoError, systemClock } from '@agentproto/contracts'
import type { SecretStatus } from '@agentproto/contracts/agent'
import type { AuthState } from '@agentproto/contracts/wire'
import { agentHome } from '@agentproto/driver-agent-cli/installation'
import { type AgentRecord, secretStates } from './agent-record.js'
import type { Ledger } from './ledger.js'
import { loginCompleted } from './login.js'
import type { CommandContext } from './manifest-command.js'

/** Whether an agent is logged in, and how that is known. */
export interface Login {
  readonly state: AuthState
  /** `absence`: nothing was found, which proves nothing; a session may still start. */
  readonly by: 'no_auth' | 'key' | 'check' | 'ledger' | 'file' | 'absence'
}

/**
 * Whether an agent is logged in: the one place that decides it, for every command and surface. In this order: a key that is set, the
 * answer of the manifest's own check, what the ledger records, a file of the login. `unknown` where the manifest names nothing to
 * look for.
 * @param secrets those that the manifest declares
 * @param completed the answer of the manifest's own check, if it was asked now
 */
export function loginOf(record: AgentRecord, secrets: readonly SecretStatus[], completed?: boolean): Login {
  const { auth } = record.adapter.manifest
  const { ledger } = record
  if (auth === undefined) return { state: 'not_needed', by: 'no_auth' }
  // One is enough: several declared keys usually belong to different providers. The check often does not see it.
  if (hasKey(record, secrets)) return { state: 'authed', by: 'key' }
  if (completed !== undefined) return { state: completed ? 'authed' : 'unauthed', by: 'check' }
  if (ledger.auth !== undefined) return { state: ledger.auth.state, by: 'ledger' }
  if (hasFile(record)) return { state: 'authed', by: 'file' }
  const isKnowable =
    auth.state.env.length + auth.state.paths.length + secrets.length > 0 || auth.login?.completesWhen !== undefined
  return { state: isKnowable ? 'unauthed' : 'unknown', by: 'absence' }
}

export interface CheckedLogin extends Login {
  /** With the answer of the check: what every later question is answered from. */
  readonly ledger: Ledger
  /** Why the check gave no answer. */
  readonly problem?: string
}

/** How long a positive answer counts for a launch: the sessions that start together ask once. */
const FRESH_MS = 60_000

/**
 * {@link loginOf}, after the manifest's own check where that can decide.
 * @param freshEnough whether a positive answer of the last minute counts
 */
export async function checkLogin(
  record: AgentRecord,
  context: CommandContext,
  freshEnough = false,
): Promise<CheckedLogin> {
  const secrets = await secretStates(record)
  const known = loginOf(record, secrets)
  const { ledger } = record
  const now = (record.host.clock ?? systemClock).now()
  const hasCheck = record.adapter.manifest.auth?.login?.completesWhen !== undefined
  if (!hasCheck || known.by === 'key' || (freshEnough && isFresh(ledger, now))) return { ...known, ledger }
  const asked = await ask(context)
  const login = loginOf(record, secrets, asked.completed)
  if (login.by !== 'check') return { ...login, ledger, ...asked }
  return { ...login, ledger: withAnswer(ledger, login.state === 'authed', new Date(now).toISOString()) }
}

interface Answer {
  readonly completed?: boolean
  readonly problem?: string
}

/** A check that cannot run proves nothing. */
async function ask(context: CommandContext): Promise<Answer> {
  try {
    return await loginCompleted(context)
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code === 'cancelled') throw thrown
    return { problem: thrown.message }
  }
}

const isFresh = ({ auth }: Ledger, now: number): boolean =>
  auth?.state === 'authed' && auth.checkedAt !== undefined && Math.abs(now - Date.parse(auth.checkedAt)) < FRESH_MS

function withAnswer(ledger: Ledger, completed: boolean, checkedAt: string): Ledger {
  if (!completed) return { ...ledger, auth: { state: 'unauthed', at: checkedAt, checkedAt } }
  const before = ledger.auth?.state === 'authed' ? ledger.auth : { at: checkedAt }
  return { ...ledger, auth: { ...before, state: 'authed', checkedAt } }
}

const hasKey = ({ adapter, host: { env }, env: own = {} }: AgentRecord, secrets: readonly SecretStatus[]): boolean =>
  (adapter.manifest.auth?.state.env ?? []).some((name) => Boolean(own[name] ?? env[name])) ||
  secrets.some(({ set, variables }) => set || variables.some((name) => Boolean(own[name])))

function hasFile({ adapter: { manifest }, host }: AgentRecord): boolean {
  const env = { ...host.env, ...agentHome(manifest, host)?.variables }
  return (manifest.auth?.state.paths ?? []).some((path) => existsSync(placeOf(path, env)))
}

/** A path of a manifest with its variables; a relative one is in the user's home. */
function placeOf(path: string, env: Readonly<Record<string, string | undefined>>): string {
  const expanded = path
    .replaceAll(/\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?/g, (_, name: string) => env[name] ?? '')
    .replace(/^~(?=\/|$)/, env['HOME'] ?? '~')
  return isAbsolute(expanded) ? expanded : join(env['HOME'] ?? '/', expanded)
}

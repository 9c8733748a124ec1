import { defined, systemClock } from '@agentproto/contracts'
import { compileLaunch } from '@agentproto/manifest'
import type { AgentHost, LaunchProvisioning, SpawnGate, SpawnProvision } from '@agentproto/driver-agent-cli'
import { type AgentRecord, agentVariables } from './agent-record.js'
import { checkLogin } from './auth-state.js'
import { durationMs } from './duration.js'
import { changeWhenFree, type Ledger, ledgerFile } from './ledger.js'
import { loginRequired } from './login.js'
import { type CommandContext, endingOf, runManifestCommand } from './manifest-command.js'
import { runSetup } from './setup/run-setup.js'

/** For `AgentHost.provisioning`: setup and login by the agents' ledgers in `provisioning/<slug>.json`. */
export const launchProvisioning: LaunchProvisioning = { beforeSpawn, loginExpired }

/**
 * The checks before an agent is spawned (AIP-45 §Setup surface, AIP-29 §Auth): every setup step is done or skipped, and the
 * login is not known to be missing; it is refreshed when that is due.
 * @returns the variables that the agent is given
 * @throws `setup_required` with the pending steps, `auth_required` with the login command
 */
async function beforeSpawn(gate: SpawnGate): Promise<SpawnProvision> {
  const { adapter, host } = gate
  const ledger = await settledLedger(gate, await ledgerFile(adapter.manifest.id, host).readOrMoveAside())
  const record = { ...gate, ledger }
  const { variables: env } = await agentVariables(record)
  const own = { ...gate.chosen, ...gate.env }
  const login = await requireLogin({ ...record, env: own }, { ...gate, variables: { ...env, ...own } })
  return { env, warnings: [...login, ...(await refresh(gate, ledger, env))] }
}

/**
 * A login that is known to be missing: it has expired, or the manifest's own check says so. Where nothing was found, the agent
 * may be configured in another way, and says it itself.
 * @returns warnings
 */
async function requireLogin(record: AgentRecord, context: CommandContext): Promise<readonly string[]> {
  const { host, adapter, ledger, env = {} } = record
  // What is found with the variables of one start says nothing of the others.
  const usual = compileLaunch(adapter.manifest).env
  const isGeneral = Object.entries(env).every(([name, value]) => usual[name] === value)
  const login = await checkLogin(record, context, isGeneral)
  if (login.ledger !== ledger && isGeneral)
    await changeWhenFree(adapter.manifest.id, host, (current) => ({
      ...current,
      ...defined({ auth: login.ledger.auth }),
    }))
  if (login.state === 'unauthed' && login.by !== 'absence')
    throw loginRequired(context, login.by === 'check' ? 'as its own check says' : 'its login has expired')
  return login.problem === undefined
    ? []
    : [`Whether it is logged in could not be checked: ${context.host.redactor.redact(login.problem)}`]
}

/** AIP-29 §Auth: authed → (expiry seen) unauthed. */
async function loginExpired(slug: string, host: Pick<AgentHost, 'home' | 'clock' | 'onWarning'>): Promise<void> {
  const at = new Date((host.clock ?? systemClock).now()).toISOString()
  await ledgerFile(slug, host).change((ledger) => [{ ...ledger, auth: { state: 'unauthed', at } }, undefined])
}

/** Steps that `skip_if` passes are recorded, so that the next spawn does not check them again. */
async function settledLedger(gate: SpawnGate, ledger: Ledger): Promise<Ledger> {
  const { adapter, host } = gate
  if (adapter.manifest.setup.length === 0) return ledger
  let settled = ledger
  const result = await runSetup({
    ...gate,
    ledger,
    inputs: {},
    dryRun: true,
    emit: () => undefined,
    save: (changed) => {
      settled = changed
      return Promise.resolve()
    },
  })
  // What was found for the choices of one session need not be true for another.
  if (settled !== ledger && Object.keys(gate.chosen ?? {}).length === 0)
    await changeWhenFree(adapter.manifest.id, host, (current) => ({
      ...current,
      setup: { ...current.setup, ...settled.setup },
    }))
  return result
}

const REFRESH_MS = 60_000

/** A failed refresh is a warning, not an error: the login may still be valid. */
async function refresh(gate: SpawnGate, ledger: Ledger, variables: SpawnProvision['env']): Promise<readonly string[]> {
  const { adapter, host, signal } = gate
  const { refresh: rule, expiry } = adapter.manifest.auth ?? {}
  const now = (host.clock ?? systemClock).now()
  if (rule === undefined || !isDue(rule.every, ledger, now)) return []
  const end = await runManifestCommand(rule.cmd, { adapter, host, signal, variables }, { timeoutMs: REFRESH_MS })
  const at = new Date(now).toISOString()
  if (expiry !== undefined && end.exitCode === expiry.exitCode) {
    await changeWhenFree(adapter.manifest.id, host, (current) => ({ ...current, auth: { state: 'unauthed', at } }))
    throw loginRequired(gate, 'its login has expired')
  }
  if (end.exitCode !== 0) return [`The login could not be refreshed: ${host.redactor.redact(endingOf(end))}`]
  await changeWhenFree(adapter.manifest.id, host, (current) => ({
    ...current,
    auth: { state: 'authed', at: current.auth?.at ?? at, refreshedAt: at },
  }))
  return []
}

function isDue(every: string | undefined, { auth }: Ledger, now: number): boolean {
  const cadence = every === undefined ? undefined : durationMs(every)
  if (cadence === undefined) return false
  const last = auth?.refreshedAt ?? auth?.at
  return last === undefined || now - Date.parse(last) >= cadence
}

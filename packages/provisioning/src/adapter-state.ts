import { defined } from '@agentproto/contracts'
import type { AdapterState, AuthState, SetupStepState } from '@agentproto/contracts/wire'
import { stat } from 'node:fs/promises'
import type { SecretDeclaration, SetupStep } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { findAgent, type LocatedAgent } from '@agentproto/driver-agent-cli/installation'
import { agentVariables } from './agent-variables.js'
import { authState } from './auth-state.js'
import { type Ledger, type LedgerStep, stepsFor } from './ledger.js'
import type { ProvisionHost } from './provision-host.js'
import { needsOf } from './setup/run-setup.js'

export interface StateQuestion {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  readonly declared: readonly SecretDeclaration[]
  readonly ledger: Ledger
  readonly workspace?: string | undefined
}

/** How far an agent is provisioned, by its files and the ledger: nothing is run. */
export async function adapterState({
  adapter,
  host,
  declared,
  ledger,
  workspace,
}: StateQuestion): Promise<AdapterState> {
  const { manifest } = adapter
  const found = await findAgent(manifest, host)
  const all = await host.secrets.list(declared)
  const secrets = all.filter(({ slug }) => declared.some((secret) => secret.slug === slug))
  const done = stepsFor(ledger, manifest.setup, workspace)
  const { lost } = await agentVariables({ secrets: host.secrets, declared, setup: manifest.setup, done })
  const setup = manifest.setup.map((step) => stepState(step, lost.has(step.id) ? undefined : done.get(step.id)))
  const check = found === undefined ? undefined : await checkOf(found, ledger)
  const auth = await authState({ manifest, host, ledger, secrets })
  const login = manifest.auth?.login?.cmd
  const facts: Facts = { installed: found !== undefined, versionOk: check?.ok, setup, auth }
  return {
    slug: manifest.id,
    installed: facts.installed,
    versionRange: manifest.versionCheck.range,
    setup,
    auth,
    secrets,
    ready: isReady(facts),
    ...defined({
      executable: found?.file,
      method: found === undefined ? undefined : ledger.install?.method,
      version: check?.version,
      versionOk: check?.ok,
      checkedAt: check?.at,
      login,
      next: nextStep(manifest.id, facts, login),
    }),
  }
}

const isReady = ({ installed, versionOk, setup, auth }: Facts): boolean =>
  installed && versionOk !== false && setup.every(({ state }) => state !== 'pending') && auth !== 'unauthed'

/** The last version check, if the file has not changed since. */
export async function checkOf(found: LocatedAgent, { check }: Ledger): Promise<Ledger['check']> {
  if (check === undefined || check.file !== found.file) return undefined
  const { mtimeMs } = await stat(found.file)
  return mtimeMs === check.changed ? check : undefined
}

function stepState(step: SetupStep, entry: LedgerStep | undefined): SetupStepState {
  const { id, kind, description } = step
  const needs = entry === undefined ? needsOf(step) : undefined
  return { id, kind, state: entry?.state ?? 'pending', ...defined({ description, at: entry?.at, needs }) }
}

interface Facts {
  readonly installed: boolean
  readonly versionOk: boolean | undefined
  readonly setup: readonly SetupStepState[]
  readonly auth: AuthState
}

function nextStep(
  slug: string,
  { installed, versionOk, setup, auth }: Facts,
  login: string | undefined,
): string | undefined {
  if (!installed) return `agentproto adapters install ${slug}`
  if (versionOk === false) return `agentproto adapters install ${slug} --force`
  if (setup.some(({ state }) => state === 'pending')) return `agentproto adapters setup ${slug}`
  if (auth !== 'unauthed') return undefined
  return login === undefined ? `agentproto secrets list` : `agentproto adapters login ${slug}`
}

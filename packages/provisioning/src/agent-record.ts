import type { SecretStatus } from '@agentproto/contracts/agent'
import type { SecretDeclaration, SetupStep } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { declaredSecrets, secretVariables } from '@agentproto/driver-agent-cli/installation'
import type { ResolvedSecret } from '@agentproto/secrets'
import { type Ledger, ledgerFile, type LedgerStep, stepsFor } from './ledger.js'
import type { ProvisionHost } from './provision-host.js'

/** An adapter's agent on this host, with what its manifest declares and its ledger records. */
export interface AgentRecord {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  /** The secrets that the manifest declares. */
  readonly declared: readonly SecretDeclaration[]
  readonly ledger: Ledger
  /** Default: the setup that counts for every workspace. */
  readonly workspace?: string | undefined
  /** Variables that one start is given by its caller. */
  readonly env?: Readonly<Record<string, string>>
}

/** @throws `storage_failed` */
export async function readRecord(
  adapter: LoadedAgentCli,
  host: ProvisionHost,
  workspace?: string,
): Promise<AgentRecord> {
  const file = ledgerFile(adapter.manifest.id, host)
  const [declared, ledger] = await Promise.all([declaredSecrets(adapter), file.readOrMoveAside()])
  return { adapter, host, declared, ledger, workspace }
}

export interface AgentVariables {
  /** The results of the completed steps, by id. */
  readonly done: ReadonlyMap<string, LedgerStep>
  /** What the agent gets beyond its host's variables: declared secrets, and values of the setup. */
  readonly variables: Readonly<Record<string, string>>
  /** Completed steps whose secret was removed: they must be run again. */
  readonly lost: ReadonlySet<string>
}

/** The completed steps of a workspace, and the variables that the agent would get now. */
export async function agentVariables(record: AgentRecord): Promise<AgentVariables> {
  const { adapter, host, declared, ledger, workspace } = record
  const { setup } = adapter.manifest
  const done = stepsFor(ledger, setup, workspace)
  const variables = await secretVariables({ secrets: host.secrets, declared })
  const lost = new Set<string>()
  for (const step of setup) {
    const entry = done.get(step.id)
    const value = entry && (await stepValue(entry, record))
    if (entry?.secret !== undefined && value === undefined) lost.add(step.id)
    const name = persistedVariable(step)
    if (name !== undefined && value !== undefined) variables[name] = value
  }
  return { done, variables, lost }
}

/** The value of a completed step, if it has one that is still stored. */
export const stepValue = async (
  { secret, value }: LedgerStep,
  record: Pick<AgentRecord, 'host' | 'declared'>,
): Promise<string | undefined> => (secret === undefined ? value : (await resolveSecret(secret, record))?.text)

/** The variable of a step's value. */
const persistedVariable = (step: SetupStep): string | undefined =>
  step.kind !== 'oauth' && step.persist !== undefined && 'env' in step.persist ? step.persist.env : undefined

/** Looks up a secret, also in the variables that its declaration names. */
export const resolveSecret = (
  slug: string,
  { host, declared }: Pick<AgentRecord, 'host' | 'declared'>,
): Promise<ResolvedSecret | undefined> =>
  host.secrets.resolve(declared.find((secret) => secret.slug === slug) ?? { slug })

/** The status of the secrets that the manifest declares. */
export async function secretStates({ host, declared }: AgentRecord): Promise<readonly SecretStatus[]> {
  const all = await host.secrets.list(declared)
  return all.filter(({ slug }) => declared.some((secret) => secret.slug === slug))
}

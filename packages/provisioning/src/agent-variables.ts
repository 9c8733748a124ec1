import type { SecretDeclaration, SetupStep } from '@agentproto/manifest'
import type { Secrets } from '@agentproto/secrets'
import { secretVariables } from '@agentproto/driver-agent-cli/installation'
import type { LedgerStep } from './ledger.js'

export interface VariableSources {
  readonly secrets: Pick<Secrets, 'resolve'>
  /** Those that the manifest declares. */
  readonly declared: readonly SecretDeclaration[]
  readonly setup: readonly SetupStep[]
  /** The results of the steps, by id. */
  readonly done: ReadonlyMap<string, LedgerStep>
}

export interface AgentVariables {
  readonly env: Readonly<Record<string, string>>
  /** Steps whose secret was removed: they must be run again. */
  readonly lost: ReadonlySet<string>
}

/** The variables that an agent gets beyond its host's: declared secrets, and values of the setup. */
export async function agentVariables(sources: VariableSources): Promise<AgentVariables> {
  const { setup, done } = sources
  const env = await secretVariables(sources)
  const lost = new Set<string>()
  for (const step of setup) {
    const entry = done.get(step.id)
    const value = entry === undefined ? undefined : await valueOf(entry, sources)
    if (entry?.secret !== undefined && value === undefined) lost.add(step.id)
    const name = persistedVariable(step)
    if (name !== undefined && value !== undefined) env[name] = value
  }
  return { env, lost }
}

async function valueOf(entry: LedgerStep, { secrets, declared }: VariableSources): Promise<string | undefined> {
  if (entry.secret === undefined) return entry.value
  return (await secrets.resolve(declarationOf(entry.secret, declared)))?.text
}

const declarationOf = (slug: string, declared: readonly SecretDeclaration[]) =>
  declared.find((secret) => secret.slug === slug) ?? { slug }

/** The variable of a step's value. */
const persistedVariable = (step: SetupStep): string | undefined =>
  step.kind !== 'oauth' && step.persist !== undefined && 'env' in step.persist ? step.persist.env : undefined

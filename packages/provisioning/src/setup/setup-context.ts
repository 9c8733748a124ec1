import { createHash } from 'node:crypto'
import { AgentprotoError, type ProvisionEvent, type SetupInput } from '@agentproto/contracts'
import type { SecretDeclaration, SetupStep } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { isSecretName } from '@agentproto/subprocess'
import { agentVariables } from '../agent-variables.js'
import { referencesIn, type Substitutions } from '../command-line.js'
import type { LedgerStep } from '../ledger.js'
import type { CommandGround } from '../manifest-command.js'
import type { ProvisionHost } from '../provision-host.js'

/** What a step is run with. */
export interface SetupContext {
  readonly adapter: LoadedAgentCli
  readonly host: ProvisionHost
  readonly declared: readonly SecretDeclaration[]
  /** The steps that are done, by id. */
  readonly done: ReadonlyMap<string, LedgerStep>
  /** Answers that came with the request, by the step's id. */
  readonly inputs: Readonly<Record<string, string | number | boolean>>
  readonly emit: (event: ProvisionEvent) => void
  readonly signal: AbortSignal
}

/** What a step came to: a value, nothing to keep, or something that is missing. */
export type StepResult =
  | { readonly state: 'done'; readonly value?: string; readonly secretSlug?: string }
  | { readonly state: 'pending'; readonly needs: SetupInput }

/** Where a step's commands run: with the variables that the agent itself would be given by now. */
export async function groundOf(context: SetupContext): Promise<CommandGround> {
  const { adapter, host, signal, declared, done } = context
  const { env } = await agentVariables({ secrets: host.secrets, declared, setup: adapter.manifest.setup, done })
  return { adapter, host, signal, variables: env }
}

/** A secret that a text refers to and that is not set. */
export class SecretMissing extends Error {
  readonly slug: string

  constructor(slug: string) {
    super(`The secret ${slug} is not set`)
    this.slug = slug
  }
}

/**
 * The values that a command refers to: `${input.ID}` of earlier steps and `${secrets.SLUG}`.
 * @throws {@link SecretMissing}
 */
export async function valuesFor(command: string, context: SetupContext): Promise<Substitutions> {
  const values = new Map<string, string>()
  for (const name of referencesIn(command)) {
    const value = await valueOf(name, context)
    if (value !== undefined) values.set(name, value)
    if (name.startsWith('secrets.')) {
      const message = `${name} becomes an argument of a command of the setup: while that runs, other users of this machine can see it.`
      context.emit({ type: 'warning', message })
    }
  }
  return values
}

/** The values that a question or an address may show: inputs, and of them only those that are no secrets. */
export function shownValues(text: string, { done }: SetupContext): Substitutions {
  const values = new Map<string, string>()
  for (const name of referencesIn(text)) {
    const value = name.startsWith('input.') ? done.get(name.slice(6))?.value : undefined
    if (value !== undefined) values.set(name, value)
  }
  return values
}

async function valueOf(name: string, { done, host, declared }: SetupContext): Promise<string | undefined> {
  if (name.startsWith('secrets.')) {
    const slug = name.slice(8)
    const found = await host.secrets.resolve(declared.find((secret) => secret.slug === slug) ?? { slug })
    if (found === undefined) throw new SecretMissing(slug)
    return found.text
  }
  const entry = name.startsWith('input.') ? done.get(name.slice(6)) : undefined
  if (entry?.secret === undefined) return entry?.value
  return (await host.secrets.resolve({ slug: entry.secret }))?.text
}

/** Whether what a step gives must be kept as a secret: it says so, or the variable's name does. */
export function isConfidential(step: SetupStep): boolean {
  if (step.kind === 'oauth') return true
  if (step.kind === 'prompt' && step.type === 'secret') return true
  const { persist } = step
  if (persist === undefined) return false
  return 'secretSlug' in persist || ('env' in persist && isSecretName(persist.env))
}

/** Where a confidential value is kept: under the manifest's slug, else under one of our own. */
export function secretSlugOf(step: SetupStep, adapter: LoadedAgentCli): string {
  if (step.kind === 'oauth') return step.secretSlug
  if (step.persist !== undefined && 'secretSlug' in step.persist) return step.persist.secretSlug
  const readable = `setup/s-${adapter.manifest.id}-${step.id}`.replace(/-+$/, '')
  if (readable.length <= 80) return readable
  return `setup/s-${createHash('sha256').update(readable).digest('hex').slice(0, 32)}`
}

/** @throws always: the step and why */
export const stepFailed = ({ id }: SetupStep, why: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('setup_failed', `The step ${id} failed: ${why}`, {
    hint: 'Mend the cause and run the setup again: it goes on at this step',
    data: { step: id },
    cause,
  })

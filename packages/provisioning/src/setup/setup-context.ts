import { createHash } from 'node:crypto'
import { AgentprotoError } from '@agentproto/contracts'
import type { ProvisionEvent, SetupInput } from '@agentproto/contracts/wire'
import type { SetupStep } from '@agentproto/manifest'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { isSecretName } from '@agentproto/subprocess'
import { type AgentRecord, type AgentVariables, resolveSecret, stepValue } from '../agent-record.js'
import { referencesIn, type Substitutions } from '../command-line.js'
import type { CommandContext } from '../manifest-command.js'

export type Step<Kind extends SetupStep['kind']> = Extract<SetupStep, { kind: Kind }>

/** The context of a step and of its commands, which get the variables that the agent would get now. */
export interface SetupContext extends CommandContext, Pick<AgentRecord, 'declared'>, Pick<AgentVariables, 'done'> {
  /** Answers that came with the request, by the step's id. */
  readonly inputs: Readonly<Record<string, string | number | boolean>>
  readonly emit: (event: ProvisionEvent) => void
}

/** The result of a step: a value, nothing, or what it needs. */
export type StepResult =
  | { readonly state: 'done'; readonly value?: string; readonly secretSlug?: string }
  | { readonly state: 'pending'; readonly needs: SetupInput }

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

/** The values that a question or an address may show: inputs that are not secrets. */
export function shownValues(text: string, { done }: SetupContext): Substitutions {
  const values = new Map<string, string>()
  for (const name of referencesIn(text)) {
    const value = name.startsWith('input.') ? done.get(name.slice(6))?.value : undefined
    if (value !== undefined) values.set(name, value)
  }
  return values
}

async function valueOf(name: string, context: SetupContext): Promise<string | undefined> {
  if (name.startsWith('secrets.')) {
    const slug = name.slice(8)
    const found = await resolveSecret(slug, context)
    if (found === undefined) throw new SecretMissing(slug)
    return found.text
  }
  const entry = name.startsWith('input.') ? context.done.get(name.slice(6)) : undefined
  return entry && stepValue(entry, context)
}

/** Whether the value of a step is stored as a secret: by its declaration, or by the name of its variable. */
export function isConfidential(step: SetupStep): boolean {
  if (step.kind === 'oauth') return true
  if (step.kind === 'prompt' && step.type === 'secret') return true
  const { persist } = step
  if (persist === undefined) return false
  return 'secretSlug' in persist || ('env' in persist && isSecretName(persist.env))
}

/** The slug of a confidential value: the manifest's, else one of our own. */
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
    hint: 'Fix the cause and run the setup again: it continues at this step',
    data: { step: id },
    cause,
  })

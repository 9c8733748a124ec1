import type { SetupStepDocument } from './agent-cli-document.js'
import type { Persist, SetupStep, SkipIf } from './agent-cli-manifest.js'
import { given } from './given.js'

/** Turns one checked AIP-29 setup step into its use form. */
export const normaliseSetupStep = (step: SetupStepDocument): SetupStep => ({
  id: step.id,
  ...given('description', step.description),
  ...given('skipIf', step.skip_if && normaliseSkipIf(step.skip_if)),
  ...normaliseKind(step),
})

type StepKind = DistributiveOmit<SetupStep, 'id' | 'description' | 'skipIf'>
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

function normaliseKind(step: SetupStepDocument): StepKind {
  const persist = given('persist', step.persist && normalisePersist(step.persist))
  switch (step.kind) {
    case 'cmd': {
      const { cmd = '', timeout_ms: timeoutMs = 60_000, interactive = false } = step
      return { kind: 'cmd', cmd, timeoutMs, interactive, ...persist }
    }
    case 'prompt':
      return { ...normalisePrompt(step), ...persist }
    case 'oauth':
      return { kind: 'oauth', secretSlug: step.secret_slug ?? '' }
    case 'external': {
      const { url = '', callback } = step
      return { kind: 'external', url, ...given('callback', callback && normaliseCallback(callback)), ...persist }
    }
  }
}

function normalisePrompt(step: SetupStepDocument): Extract<StepKind, { kind: 'prompt' }> {
  const { prompt = '', type = 'text', options } = step
  const choices = given('options', options && normaliseChoices(options))
  return { kind: 'prompt', prompt, type, ...given('default', step.default), ...choices }
}

const normaliseSkipIf = (skip: NonNullable<SetupStepDocument['skip_if']>): SkipIf => ({
  cmd: skip.cmd,
  exitCode: skip.exit_code ?? 0,
  timeoutMs: skip.timeout_ms ?? 5_000,
})

function normalisePersist({
  env,
  secret_slug: secretSlug,
  cmd = '',
}: NonNullable<SetupStepDocument['persist']>): Persist {
  if (env !== undefined) return { env }
  return secretSlug === undefined ? { cmd } : { secretSlug }
}

const normaliseChoices = (
  options: NonNullable<SetupStepDocument['options']>,
): readonly string[] | { readonly cmd: string; readonly timeoutMs: number } =>
  'cmd' in options ? { cmd: options.cmd, timeoutMs: options.timeout_ms ?? 30_000 } : options

const normaliseCallback = ({
  param,
  timeout_ms: timeoutMs = 600_000,
}: NonNullable<SetupStepDocument['callback']>): { readonly param?: string; readonly timeoutMs: number } => ({
  ...given('param', param),
  timeoutMs,
})

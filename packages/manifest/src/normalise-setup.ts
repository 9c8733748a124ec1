import type { SetupStepDocument } from './agent-cli-document.js'
import type { Persist, SetupStep, SkipIf } from './agent-cli-manifest.js'
import { given } from './given.js'

/** Turns one checked AIP-29 setup step into its use form. */
export function normaliseSetupStep(step: SetupStepDocument): SetupStep {
  const common = {
    id: step.id,
    ...given('description', step.description),
    ...given('skipIf', step.skip_if && normaliseSkipIf(step.skip_if)),
  }
  const persist = given('persist', step.persist && normalisePersist(step.persist))
  switch (step.kind) {
    case 'cmd': {
      const { cmd = '', timeout_ms: timeoutMs = 60_000, interactive = false } = step
      return { ...common, kind: 'cmd', cmd, timeoutMs, interactive, ...persist }
    }
    case 'prompt': {
      const { prompt = '', type = 'text' } = step
      const choices = given('options', step.options && normaliseChoices(step.options))
      return { ...common, kind: 'prompt', prompt, type, ...given('default', step.default), ...choices, ...persist }
    }
    case 'oauth':
      return { ...common, kind: 'oauth', secretSlug: step.secret_slug ?? '' }
    case 'external':
      return {
        ...common,
        kind: 'external',
        url: step.url ?? '',
        ...given('callback', step.callback && normaliseCallback(step.callback)),
        ...persist,
      }
  }
}

const normaliseSkipIf = (skip: NonNullable<SetupStepDocument['skip_if']>): SkipIf => ({
  cmd: skip.cmd,
  exitCode: skip.exit_code ?? 0,
  timeoutMs: skip.timeout_ms ?? 5_000,
})

function normalisePersist({ env, secret_slug: secretSlug, cmd = '' }: NonNullable<SetupStepDocument['persist']>): Persist {
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

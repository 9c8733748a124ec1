import { AgentprotoError } from '@agentproto/contracts'
import type { AgentCliManifest, Mode, Option } from './agent-cli-manifest.js'
import { fillTemplate } from './fill-template.js'
import { nearest } from './nearest.js'

export type OptionValue = string | number | boolean

export interface LaunchRequest {
  /** Id of one of the manifest's modes; none when absent. */
  readonly mode?: string
  /** Values by option id. */
  readonly options?: Readonly<Record<string, OptionValue>>
  /** Model to run; the manifest's default when absent. */
  readonly model?: string
}

export interface CompiledLaunch {
  readonly args: readonly string[]
  /** What modes, options and models add to the environment; never a secret. */
  readonly env: Readonly<Record<string, string>>
  /** The model that was asked for, by `model`, by an option of that id, or by the manifest's default. */
  readonly model?: string
}

/**
 * Compiles a launch (AIP-45 modes, options, models): `bin_args`, the mode's patch, then options in
 * declaration order, only for values that differ from their default.
 * @throws `mode_unknown`, `option_invalid`
 */
export function compileLaunch(manifest: AgentCliManifest, request: LaunchRequest = {}): CompiledLaunch {
  const mode = findMode(manifest, request.mode)
  const patches = [
    ...(mode === undefined ? [] : [{ args: mode.binArgsAppend, env: mode.env }]),
    ...optionPatches(manifest, request),
  ]
  const model = chooseModel(manifest, request)
  const modelVariable = Object.hasOwn(manifest.models.env, 'default') ? manifest.models.env['default'] : undefined
  return {
    args: [...manifest.binArgs, ...patches.flatMap((patch) => patch.args)],
    env: Object.assign(
      {},
      model === undefined || modelVariable === undefined ? {} : { [modelVariable]: model },
      ...patches.map((patch) => patch.env),
    ) as Record<string, string>,
    ...(model === undefined ? {} : { model }),
  }
}

function findMode(manifest: AgentCliManifest, id: string | undefined): Mode | undefined {
  if (id === undefined) return undefined
  const mode = manifest.modes.find((candidate) => candidate.id === id)
  if (mode !== undefined) return mode
  const ids = manifest.modes.map((candidate) => candidate.id)
  throw new AgentprotoError('mode_unknown', `The adapter ${manifest.name} has no mode ${id}.`, {
    expected: ids.length === 0 ? 'no mode: the adapter declares none' : `one of ${ids.join(', ')}`,
    given: id,
    ...didYouMean(id, ids),
  })
}

interface Patch {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

function optionPatches(manifest: AgentCliManifest, { options = {} }: LaunchRequest): readonly Patch[] {
  const ids = manifest.options.map((option) => option.id)
  for (const id of Object.keys(options)) {
    if (ids.includes(id)) continue
    throw new AgentprotoError('option_invalid', `The adapter ${manifest.name} has no option ${id}.`, {
      expected: ids.length === 0 ? 'no option: the adapter declares none' : `one of ${ids.join(', ')}`,
      given: id,
      ...didYouMean(id, ids),
      data: { option: id },
    })
  }
  return manifest.options.flatMap((option) => {
    if (!Object.hasOwn(options, option.id)) return []
    const value = checkOption(option, options[option.id])
    return value === option.default ? [] : [optionPatch(option, value)]
  })
}

/** The value itself when it fits the option; the message names what is allowed. */
function checkOption(option: Option, value: unknown): OptionValue {
  const refuse = (expected: string, hint?: string): never => {
    throw new AgentprotoError('option_invalid', `The option ${option.id} has a value that is not allowed.`, {
      expected,
      given: value,
      ...(hint === undefined ? {} : { hint }),
      data: { option: option.id },
    })
  }
  switch (option.type) {
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse('true or false')
    case 'integer':
      return isWithin(option, value) ? value : refuse(integerPhrase(option))
    case 'enum': {
      if (typeof value === 'string' && option.enum.includes(value)) return value
      return refuse(`one of ${option.enum.join(', ')}`, didYouMean(String(value), option.enum).hint)
    }
    case 'string': {
      if (typeof value !== 'string' || value.includes('\0')) return refuse('a text without NUL')
      // Alone in its argument, such a value would be read as a flag of the agent.
      const alone = option.binArgsTemplate.includes('{value}')
      return alone && /^--?[A-Za-z]/.test(value) ? refuse('a text that does not begin like a flag') : value
    }
  }
}

const isWithin = (
  { min = -Infinity, max = Infinity }: Extract<Option, { type: 'integer' }>,
  value: unknown,
): value is number => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max

function integerPhrase({ min, max }: Extract<Option, { type: 'integer' }>): string {
  if (min !== undefined && max !== undefined) return `a whole number from ${min} to ${max}`
  if (min !== undefined) return `a whole number of at least ${min}`
  return max === undefined ? 'a whole number' : `a whole number of at most ${max}`
}

function optionPatch(option: Option, value: OptionValue): Patch {
  const fill = (template: string): string => fillTemplate(template, value)
  const whenTrue = option.type === 'boolean' && value === true ? option.binArgsAppendWhenTrue : []
  return {
    args: [...option.binArgsTemplate.map(fill), ...whenTrue],
    env: Object.fromEntries(Object.entries(option.env).map(([name, template]) => [name, fill(template)])),
  }
}

function chooseModel(manifest: AgentCliManifest, { model, options = {} }: LaunchRequest): string | undefined {
  const byOption =
    Object.hasOwn(options, 'model') && typeof options['model'] === 'string' ? options['model'] : undefined
  const chosen = model ?? byOption
  const { allowed, default: fallback } = manifest.models
  if (chosen === undefined) return fallback
  if (allowed === undefined || allowed.includes(chosen)) return chosen
  throw new AgentprotoError('option_invalid', `The adapter ${manifest.name} does not allow the model ${chosen}.`, {
    expected: `one of ${allowed.join(', ')}`,
    given: chosen,
    ...didYouMean(chosen, allowed),
    data: { option: 'model' },
  })
}

function didYouMean(given: string, candidates: readonly string[]): { readonly hint?: string } {
  const candidate = nearest(given, candidates)
  return candidate === undefined ? {} : { hint: `Did you mean ${candidate}?` }
}

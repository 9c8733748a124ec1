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
  /** The model that was requested, by `model` or by an option of that id, or the manifest's default. */
  readonly model?: string
}

/**
 * Compiles a launch (AIP-45 modes, options, models): `bin_args`, the mode's patch, then options in
 * declaration order: templates and variables only for values that differ from their default, and the flags of a boolean
 * whenever its value, given or by default, is true.
 * @throws `mode_unknown`, `option_invalid`
 */
export function compileLaunch(manifest: AgentCliManifest, request: LaunchRequest = {}): CompiledLaunch {
  const mode = findMode(manifest, request.mode)
  const patches = [{ args: mode?.binArgsAppend ?? [], env: mode?.env ?? {} }, ...optionPatches(manifest, request)]
  const model = chooseModel(manifest, request)
  const modelVariable = Object.hasOwn(manifest.models.env, 'default') ? manifest.models.env['default'] : undefined
  const modelEnv = model === undefined || modelVariable === undefined ? {} : { [modelVariable]: model }
  return {
    args: [...manifest.binArgs, ...patches.flatMap(({ args }) => args)],
    env: Object.assign(modelEnv, ...patches.map(({ env }) => env)) as Record<string, string>,
    ...(model === undefined ? {} : { model }),
  }
}

function findMode(manifest: AgentCliManifest, given: string | undefined): Mode | undefined {
  const mode = manifest.modes.find(({ id }) => id === given)
  if (mode !== undefined || given === undefined) return mode
  const ids = manifest.modes.map(({ id }) => id)
  throw new AgentprotoError('mode_unknown', `The adapter ${manifest.name} has no mode ${given}.`, {
    expected: ids.length === 0 ? 'no mode: the adapter declares none' : `one of ${ids.join(', ')}`,
    given,
    ...didYouMean(given, ids),
  })
}

interface Patch {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

function optionPatches(manifest: AgentCliManifest, { options = {} }: LaunchRequest): readonly Patch[] {
  const ids = manifest.options.map(({ id }) => id)
  const unknown = Object.keys(options).find((id) => !ids.includes(id))
  if (unknown !== undefined)
    throw new AgentprotoError('option_invalid', `The adapter ${manifest.name} has no option ${unknown}.`, {
      expected: ids.length === 0 ? 'no option: the adapter declares none' : `one of ${ids.join(', ')}`,
      given: unknown,
      ...didYouMean(unknown, ids),
      data: { option: unknown },
    })
  return manifest.options.map((option) =>
    optionPatch(option, Object.hasOwn(options, option.id) ? checkOption(option, options[option.id]) : option.default),
  )
}

/** The value, when it fits the option; the error says what is allowed. */
function checkOption(option: Option, value: unknown): OptionValue {
  const refuse = (expected: string, hint: { readonly hint?: string } = {}): never => {
    const what = `The option ${option.id} has a value that is not allowed.`
    throw new AgentprotoError('option_invalid', what, { expected, given: value, ...hint, data: { option: option.id } })
  }
  switch (option.type) {
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse('true or false')
    case 'integer':
      return isWithin(option, value) ? value : refuse(integerPhrase(option))
    case 'enum': {
      if (typeof value === 'string' && option.enum.includes(value)) return value
      return refuse(`one of ${option.enum.join(', ')}`, didYouMean(String(value), option.enum))
    }
    case 'string': {
      if (typeof value !== 'string' || value.includes('\0')) return refuse('a string without NUL')
      // An argument that is the value alone would be read as a flag of the agent.
      const alone = option.binArgsTemplate.includes('{value}')
      return alone && /^--?[A-Za-z]/.test(value) ? refuse('a string that does not begin like a flag') : value
    }
    default:
      return option satisfies never
  }
}

type IntegerOption = Extract<Option, { type: 'integer' }>

const isWithin = ({ min = -Infinity, max = Infinity }: IntegerOption, value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max

function integerPhrase({ min, max }: IntegerOption): string {
  if (min !== undefined && max !== undefined) return `a whole number from ${min} to ${max}`
  if (min !== undefined) return `a whole number of at least ${min}`
  return max === undefined ? 'a whole number' : `a whole number of at most ${max}`
}

function optionPatch(option: Option, value: OptionValue | undefined): Patch {
  const whenTrue = option.type === 'boolean' && value === true ? option.binArgsAppendWhenTrue : []
  if (value === undefined || value === option.default) return { args: whenTrue, env: {} }
  const fill = (template: string): string => fillTemplate(template, value)
  return {
    args: [...option.binArgsTemplate.map(fill), ...whenTrue],
    env: Object.fromEntries(Object.entries(option.env).map(([name, template]) => [name, fill(template)])),
  }
}

function chooseModel({ name, models }: AgentCliManifest, { model, options = {} }: LaunchRequest): string | undefined {
  const byOption = Object.hasOwn(options, 'model') ? options['model'] : undefined
  const chosen = model ?? (typeof byOption === 'string' ? byOption : undefined)
  if (chosen === undefined) return models.default
  if (models.allowed?.includes(chosen) !== false) return chosen
  throw new AgentprotoError('option_invalid', `The adapter ${name} does not allow the model ${chosen}.`, {
    expected: `one of ${models.allowed.join(', ')}`,
    given: chosen,
    ...didYouMean(chosen, models.allowed),
    data: { option: 'model' },
  })
}

function didYouMean(given: string, candidates: readonly string[]): { readonly hint?: string } {
  const candidate = nearest(given, candidates)
  return candidate === undefined ? {} : { hint: `Did you mean ${candidate}?` }
}

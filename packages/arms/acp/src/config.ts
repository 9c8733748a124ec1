import {
  type AgentConfig,
  type AgentMode,
  AgentprotoError,
  asList,
  asRecord,
  asString,
  type ConfigOption,
  defined,
  type Json,
} from '@agentproto/contracts'
import type { ConfigChange } from '@agentproto/contracts/agent'

/** A request that carries out a change; the agent's answer goes to {@link SessionConfig.agreed}. */
export interface ConfigCall {
  readonly method: string
  readonly params: Json
}

/** The lists of a session's configuration. */
export interface ConfigFacts {
  readonly modes: readonly AgentMode[]
  readonly models: readonly AgentMode[]
  readonly options: readonly ConfigOption[]
}

/**
 * What can be set on a session, from the three places where agents report it: `configOptions`, the older `modes`, and
 * `models`, which is no longer in the schema.
 */
export class SessionConfig {
  #modes: readonly AgentMode[] = []
  #models: readonly AgentMode[] = []
  #options: readonly ConfigOption[] = []

  /** What is known, for a later host. */
  get facts(): ConfigFacts {
    return { modes: this.#modes, models: this.#models, options: this.#options }
  }

  /** Takes over what an earlier host knew. */
  restore({ modes, models, options }: ConfigFacts): void {
    this.#modes = modes
    this.#models = models
    this.#options = options
  }

  /** Reads the answer of `session/new`, `load` or `resume`. Undefined when it has no configuration. */
  opened(result: Json): AgentConfig | undefined {
    const modes = asRecord(result['modes'])
    const models = asRecord(result['models'])
    this.#modes = asList(modes['availableModes']).flatMap((mode) => namedOf(mode, 'id'))
    this.#models = asList(models['availableModels']).flatMap((model) => namedOf(model, 'modelId'))
    const config = {
      ...(this.#modes.length > 0 ? { modes: this.#modes } : {}),
      ...(this.#models.length > 0 ? { models: this.#models } : {}),
      ...defined({ modeId: asString(modes['currentModeId']), modelId: asString(models['currentModelId']) }),
      ...(Array.isArray(result['configOptions']) ? this.optionsChanged(result['configOptions']) : {}),
    }
    return Object.keys(config).length > 0 ? config : undefined
  }

  /** Replaces the list of options; modes and models among them are reported as modes and models too. */
  optionsChanged(options: unknown): AgentConfig {
    this.#options = asList(options).flatMap(optionOf)
    const mode = this.#option('mode')
    const model = this.#option('model')
    return {
      options: this.#options,
      ...(mode ? { modeId: String(mode.value), modes: choices(mode) } : {}),
      ...(model ? { modelId: String(model.value), models: choices(model) } : {}),
    }
  }

  /**
   * The request of a change.
   * @throws `not_supported`, `mode_unknown`, `option_invalid`
   */
  call(sessionId: string, change: ConfigChange): ConfigCall {
    if ('mode' in change) return this.#choiceCall(sessionId, 'mode', change.mode)
    if ('model' in change) return this.#choiceCall(sessionId, 'model', change.model)
    if (this.#options.length === 0) throw new AgentprotoError('not_supported', 'The agent offers no options')
    const option = this.#options.find(({ id }) => id === change.optionId)
    if (!option) throw unknown('option_invalid', { what: 'option', given: change.optionId, known: this.#options })
    return this.#optionCall(sessionId, option, change.value)
  }

  /** A mode or a model: an option of that category, else a request of its own. */
  #choiceCall(sessionId: string, what: 'mode' | 'model', id: string): ConfigCall {
    const option = this.#option(what)
    const known = option ? choices(option) : what === 'mode' ? this.#modes : this.#models
    if (known.length === 0) throw new AgentprotoError('not_supported', `The agent offers no ${what}s`)
    if (!known.some((one) => one.id === id))
      throw unknown(what === 'mode' ? 'mode_unknown' : 'option_invalid', { what, given: id, known })
    if (option) return this.#optionCall(sessionId, option, id)
    // `session/set_model` is no longer in the protocol; older agents speak it.
    const chosen = what === 'mode' ? { modeId: id } : { modelId: id }
    return { method: `session/set_${what}`, params: { sessionId, ...chosen } }
  }

  #optionCall(sessionId: string, option: ConfigOption, value: string | boolean): ConfigCall {
    const { id: configId, values } = option
    const allowed: readonly (string | boolean)[] = values ? values.map((choice) => choice.value) : [true, false]
    if (!allowed.includes(value)) {
      throw unknown('option_invalid', { what: `value of ${configId}`, given: value, known: allowed.map(String) })
    }
    return {
      method: 'session/set_config_option',
      params: { sessionId, configId, value, ...(values ? {} : { type: 'boolean' }) },
    }
  }

  /** The configuration after the agent's answer to a request. */
  agreed({ method, params }: ConfigCall, result: unknown): AgentConfig {
    if (method !== 'session/set_config_option')
      return defined({ modeId: asString(params['modeId']), modelId: asString(params['modelId']) })
    const { configOptions } = asRecord(result)
    if (Array.isArray(configOptions)) return this.optionsChanged(configOptions)
    const { configId, value } = params
    if (typeof value !== 'string' && typeof value !== 'boolean') return {}
    const set = (option: ConfigOption): ConfigOption => (option.id === configId ? { ...option, value } : option)
    this.#options = this.#options.map(set)
    return { options: this.#options }
  }

  #option(category: string): ConfigOption | undefined {
    return this.#options.find((option) => option.category === category && option.values !== undefined)
  }
}

function optionOf(entry: unknown): ConfigOption[] {
  const option = asRecord(entry)
  const { id, currentValue: value } = option
  if (typeof id !== 'string' || (typeof value !== 'string' && typeof value !== 'boolean')) return []
  const values = asList(option['options']).flatMap(valuesOf)
  return [
    {
      id,
      name: asString(option['name']) ?? id,
      value,
      ...(typeof value === 'string' ? { values } : {}),
      ...defined({ description: asString(option['description']), category: asString(option['category']) }),
    },
  ]
}

type Choice = NonNullable<ConfigOption['values']>[number]

/** A choice, or a group of them. */
function valuesOf(entry: unknown): Choice[] {
  const { options } = asRecord(entry)
  if (Array.isArray(options)) return options.flatMap(valuesOf)
  return namedOf(entry, 'value').map(({ id: value, ...rest }) => ({ value, ...rest }))
}

const choices = (option: ConfigOption): readonly AgentMode[] =>
  (option.values ?? []).map(({ value, ...rest }) => ({ id: value, ...rest }))

function namedOf(entry: unknown, key: string): AgentMode[] {
  const named = asRecord(entry)
  const id = asString(named[key])
  if (id === undefined) return []
  return [{ id, name: asString(named['name']) ?? id, ...defined({ description: asString(named['description']) }) }]
}

interface Unknown {
  readonly what: string
  readonly given: unknown
  readonly known: readonly (string | { readonly id: string })[]
}

function unknown(code: 'mode_unknown' | 'option_invalid', { what, given, known }: Unknown): AgentprotoError {
  const ids = known.map((one) => (typeof one === 'string' ? one : one.id))
  return new AgentprotoError(code, `The agent knows no such ${what}`, { expected: `one of ${ids.join(', ')}`, given })
}

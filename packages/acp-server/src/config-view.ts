import type { SessionConfigOption, SessionModeState, SessionUpdate } from '@agentclientprotocol/sdk'
import { type AgentConfig, AgentprotoError, type ConfigOption, defined } from '@agentproto/contracts'
import type { ConfigRequest } from '@agentproto/contracts/wire'

/** The settings that a client gets when it opens a session. */
export interface Settings {
  readonly modes?: SessionModeState
  readonly configOptions?: SessionConfigOption[]
}

/** Id of the option for `models`, for agents that do not report models as an option. */
const MODEL = 'model'

/** The settings of one session, as the client sees them. */
export class ConfigView {
  #config: AgentConfig
  readonly #booleans: boolean

  /** @param booleans whether the client supports boolean options */
  constructor(config: AgentConfig | undefined, booleans: boolean) {
    this.#config = config ?? {}
    this.#booleans = booleans
  }

  /** Applies a change; absent members are unchanged. */
  apply(change: AgentConfig): void {
    this.#config = { ...this.#config, ...change }
  }

  settings(): Settings {
    const { modeId, modes = [] } = this.#config
    const configOptions = this.configOptions()
    return {
      ...(modeId === undefined || modes.length === 0
        ? {}
        : { modes: { currentModeId: modeId, availableModes: modes.map((mode) => ({ ...mode })) } }),
      ...(configOptions.length === 0 ? {} : { configOptions }),
    }
  }

  configOptions(): SessionConfigOption[] {
    return [...(this.#config.options ?? []), ...this.#modelOption()].flatMap((option) => this.#optionOf(option))
  }

  updates(change: AgentConfig): SessionUpdate[] {
    const updates: SessionUpdate[] = []
    if (change.modeId !== undefined)
      updates.push({ sessionUpdate: 'current_mode_update', currentModeId: change.modeId })
    if (change.options !== undefined || change.modelId !== undefined || change.models !== undefined)
      updates.push({ sessionUpdate: 'config_option_update', configOptions: this.configOptions() })
    if (change.commands !== undefined) updates.push(commandsUpdate(change))
    return updates
  }

  /** The updates that follow the settings of an opened session. */
  opening(): SessionUpdate[] {
    return this.#config.commands === undefined ? [] : [commandsUpdate(this.#config)]
  }

  /** The change of a client's `session/set_config_option`. @throws `option_invalid` */
  changeOf(configId: string, value: string | boolean): ConfigRequest {
    if (this.#config.options?.some(({ id }) => id === configId)) return { options: { [configId]: value } }
    if (configId === MODEL && this.#modelOption().length > 0) return { model: String(value) }
    throw new AgentprotoError('option_invalid', 'The session has no such option', {
      expected:
        this.configOptions()
          .map(({ id }) => id)
          .join(', ') || 'none: it offers no options',
      given: configId,
    })
  }

  #modelOption(): ConfigOption[] {
    const { modelId, models = [], options = [] } = this.#config
    if (modelId === undefined || models.length === 0 || options.some(({ category }) => category === MODEL)) return []
    const values = models.map(({ id, name, description }) => ({ value: id, name, ...defined({ description }) }))
    return [{ id: MODEL, name: 'Model', category: MODEL, value: modelId, values }]
  }

  #optionOf({ id, name, description, category, value, values }: ConfigOption): SessionConfigOption[] {
    const shown = { id, name, ...defined({ description, category }) }
    if (typeof value === 'boolean') return this.#booleans ? [{ ...shown, type: 'boolean', currentValue: value }] : []
    return [{ ...shown, type: 'select', currentValue: value, options: (values ?? []).map((choice) => ({ ...choice })) }]
  }
}

function commandsUpdate({ commands = [] }: AgentConfig): SessionUpdate {
  const availableCommands = commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint === undefined ? {} : { input: { hint } }),
  }))
  return { sessionUpdate: 'available_commands_update', availableCommands }
}

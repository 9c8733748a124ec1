import type { AgentConfig, ConfigOption } from '@agentproto/contracts'
import type { ConfigChange } from '@agentproto/contracts/agent'

/**
 * The changes that restore the configuration of a restarted agent: mode, model and options that it offers and that differ.
 * What it no longer offers is skipped.
 * @param before as the agent said it last, before it ended
 * @param now as it says after its start
 */
export function configChanges(before: AgentConfig = {}, now: AgentConfig = {}): readonly ConfigChange[] {
  const mode = lost(before.modeId, now.modeId, now.modes)
  const model = lost(before.modelId, now.modelId, now.models)
  return [
    ...(mode === undefined ? [] : [{ mode }]),
    ...(model === undefined ? [] : [{ model }]),
    ...(before.options ?? []).flatMap((option) => lostOption(option, now.options)),
  ]
}

/** The value before, if it can be chosen and is not the current one. */
function lost(before: string | undefined, now: string | undefined, choices: AgentConfig['modes']): string | undefined {
  return before !== now && choices?.some(({ id }) => id === before) ? before : undefined
}

function lostOption({ id: optionId, category, value }: ConfigOption, now: AgentConfig['options']): ConfigChange[] {
  // They are also reported as mode and model.
  if (category === 'mode' || category === 'model') return []
  const known = now?.find(({ id }) => id === optionId)
  return known !== undefined && known.value !== value && allows(known, value) ? [{ optionId, value }] : []
}

const allows = ({ values }: ConfigOption, wanted: string | boolean): boolean =>
  values === undefined ? typeof wanted === 'boolean' : values.some(({ value }) => value === wanted)

/** For a message. */
export const described = (change: ConfigChange): string =>
  'mode' in change
    ? `mode ${change.mode}`
    : 'model' in change
      ? `model ${change.model}`
      : `${change.optionId} ${change.value}`

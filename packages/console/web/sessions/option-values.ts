import type { AdapterOption, AdapterSummary, SpawnAgentRequest } from '@agentproto/client'

type Options = NonNullable<SpawnAgentRequest['options']>

/** The name of an option's field: an option may have the name of another field of the form. */
export const optionField = (id: string): string => `option:${id}`

/** The values of an option where they are known; of the model also those that the agent's manifest allows. */
export function optionValues(
  option: AdapterOption,
  { allowed }: AdapterSummary['models'],
): readonly string[] | undefined {
  const own = option.type === 'enum' ? option.enum : undefined
  if (option.id !== 'model' || option.type === 'boolean' || option.type === 'integer') return own
  return own?.filter((value) => allowed?.includes(value) !== false) ?? allowed
}

/** What was filled in, in the type of each option. What is left at its default is not sent. */
export function chosenOptions(
  options: readonly AdapterOption[],
  fields: Readonly<Record<string, string>>,
): Options | undefined {
  const chosen = options.flatMap((option): [string, string | number | boolean][] => {
    const value = chosenValue(option, fields[optionField(option.id)])
    return value === undefined ? [] : [[option.id, value]]
  })
  return chosen.length === 0 ? undefined : Object.fromEntries(chosen)
}

function chosenValue(option: AdapterOption, field: string | undefined): string | number | boolean | undefined {
  switch (option.type) {
    case 'boolean': {
      const isOn = field !== undefined
      return isOn === (option.default ?? false) ? undefined : isOn
    }
    case 'integer':
      return field === undefined || field.trim() === '' ? undefined : Number(field)
    case 'string':
    case 'enum':
      return field === undefined || field === '' ? undefined : field
  }
}

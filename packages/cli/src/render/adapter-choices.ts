import type { AdapterOption, AdapterSummary } from '@agentproto/contracts/agent'
import { oneLine } from './printable.js'

type Choices = Pick<AdapterSummary, 'modes' | 'modeDescriptions' | 'models' | 'options'>

/** What a start of this agent may choose, as rows of a title and a text: modes, models and options with their values. */
export function choiceRows({
  modes,
  modeDescriptions,
  models,
  options,
}: Choices): readonly (readonly [string, string])[] {
  const { allowed } = models
  return [
    ...(modes.length === 0 ? [['modes', 'none'] as const] : []),
    ...modes.map((id) => ['mode', described(id, ownText(modeDescriptions, id))] as const),
    ...(models.default === undefined ? [] : [['model', `${oneLine(models.default)} by default`] as const]),
    ...(allowed === undefined ? [] : [['models', allowed.map(oneLine).join(', ')] as const]),
    ...options.map(
      (option) => ['option', described(`${option.id} (${valuesText(option)})`, option.description)] as const,
    ),
  ]
}

/** A mode may have the name of something that every object has. */
const ownText = (texts: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined

const described = (name: string, description: string | undefined): string =>
  oneLine(description === undefined ? name : `${name}: ${description}`)

/** The values that an option takes, and its default. */
function valuesText(option: AdapterOption): string {
  const { default: value } = option
  return value === undefined ? rangeText(option) : `${rangeText(option)}; default ${value}`
}

function rangeText(option: AdapterOption): string {
  switch (option.type) {
    case 'boolean':
      return 'true or false'
    case 'string':
      return 'text'
    case 'enum':
      return option.enum.join(', ')
    case 'integer':
      return `whole number${option.min === undefined ? '' : ` from ${option.min}`}${option.max === undefined ? '' : ` up to ${option.max}`}`
  }
}

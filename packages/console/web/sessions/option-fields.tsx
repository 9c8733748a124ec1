import type { AdapterOption, AdapterSummary } from '@agentproto/client'
import { Described } from '../parts/described.js'
import { shown } from '../parts/shown-text.js'
import { optionField, optionValues } from './option-values.js'

/** The options of an agent that a start may set, each with the values that it takes. One that is not filled in is not sent. */
export function OptionFields({ adapter }: { readonly adapter: AdapterSummary }) {
  const { options } = adapter
  if (options.length === 0) return null
  return (
    <fieldset class="option-fields">
      <legend>Options of {shown(adapter.name)}</legend>
      {options.map((option) => (
        <OptionField key={option.id} option={option} values={optionValues(option, adapter.models)} />
      ))}
    </fieldset>
  )
}

interface OptionFieldProps {
  readonly option: AdapterOption
  readonly values: readonly string[] | undefined
}

function OptionField({ option, values }: OptionFieldProps) {
  const { id, description } = option
  const name = optionField(id)
  return (
    <Described text={description}>
      {(about) =>
        option.type === 'boolean' ? (
          <label class="check">
            <input type="checkbox" name={name} defaultChecked={option.default === true} {...about} /> {shown(id)}
          </label>
        ) : (
          <label>
            {shown(id)}
            {values === undefined ? <Text option={option} about={about} /> : null}
            {values === undefined ? null : (
              <select name={name} {...about}>
                <option value="">{notSet(option)}</option>
                {values.map((value) => (
                  <option key={value} value={value}>
                    {shown(value)}
                  </option>
                ))}
              </select>
            )}
          </label>
        )
      }
    </Described>
  )
}

interface TextProps {
  readonly option: Exclude<AdapterOption, { readonly type: 'boolean' }>
  readonly about: object
}

function Text({ option, about }: TextProps) {
  const common = { name: optionField(option.id), placeholder: notSet(option), autocomplete: 'off', ...about }
  if (option.type !== 'integer') return <input {...common} spellcheck={false} />
  const { min, max } = option
  return (
    <input type="number" step="1" inputMode="numeric" {...common} {...bounds('min', min)} {...bounds('max', max)} />
  )
}

const bounds = (name: 'min' | 'max', value: number | undefined): object =>
  value === undefined ? {} : { [name]: value }

const notSet = ({ default: value }: AdapterOption): string =>
  value === undefined ? 'as the agent starts' : `as the agent starts: ${shown(String(value))}`

import { secretArgumentRule, secretValueRule } from './secret-value-rule.js'
import { fieldsOf, integerOf, listOf, textOf } from './field.js'
import type { Fields } from './field.js'
import { nearest } from './nearest.js'
import type { RuleContext } from './parse-manifest.js'
import { uniqueIds } from './unique-ids.js'

/** AIP-45 Conformance 7, and what makes an option useless. */
export function optionRules(context: RuleContext): void {
  uniqueIds(context, 'options')
  listOf(fieldsOf(context.document)['options']).forEach((entry, index) => {
    const option = fieldsOf(entry)
    const type = textOf(option['type'])
    if (type === undefined) return
    shapeRules(context, option, index)
    boundsRule(context, option, index)
    defaultRule(context, option, index)
    effectRules(context, option, index)
    secretValueRule(context, ['options', index, 'env'])
    secretArgumentRule(context, option, index)
  })
}

function shapeRules({ problems, at, keyAt }: RuleContext, option: Fields, index: number): void {
  const type = option['type']
  if (type === 'enum' && option['enum'] === undefined) {
    problems.error('option_incomplete', at('options', index, 'type'), {
      message: 'An option of type enum needs the key `enum`.',

      expected: 'enum: [first, second]',
    })
  }
  if (type !== 'enum' && option['enum'] !== undefined) {
    problems.error('key_unknown', keyAt('options', index, 'enum'), {
      message: '`enum` belongs only to an option of type enum.',

      expected: 'type: enum',
      given: `type: ${String(type)}`,
    })
  }
  for (const key of ['min', 'max']) {
    if (type === 'integer' || option[key] === undefined) continue
    problems.error('key_unknown', keyAt('options', index, key), {
      message: `\`${key}\` belongs only to an option of type integer.`,

      expected: 'type: integer',
      given: `type: ${String(type)}`,
    })
  }
  if (type !== 'boolean' && option['bin_args_append_when_true'] !== undefined) {
    const offset = keyAt('options', index, 'bin_args_append_when_true')
    problems.error('key_unknown', offset, {
      message: '`bin_args_append_when_true` belongs only to an option of type boolean.',

      expected: 'bin_args_template',
      given: `type: ${String(type)}`,
      suggestion: 'bin_args_template',
    })
  }
}

function boundsRule({ problems, at }: RuleContext, option: Fields, index: number): void {
  const min = integerOf(option['min'])
  const max = integerOf(option['max'])
  if (min === undefined || max === undefined || min <= max) return
  problems.error('bounds_reversed', at('options', index, 'max'), {
    message: '`max` is less than `min`.',

    expected: `at least ${min}`,
    given: max,
  })
}

function defaultRule({ problems, at }: RuleContext, option: Fields, index: number): void {
  const value = option['default']
  const expected = value === undefined ? undefined : expectedDefault(option, value)
  if (expected === undefined) return
  const choices = listOf(option['enum']).filter((choice) => typeof choice === 'string')
  problems.error('option_default_invalid', at('options', index, 'default'), {
    message: 'The default is not a value that the option takes.',

    expected,
    given: value,
    suggestion: option['type'] === 'enum' ? nearest(String(value), choices) : undefined,
  })
}

/** What the default should be; `undefined` when it is that. */
function expectedDefault(option: Fields, value: unknown): string | undefined {
  switch (option['type']) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false'
    case 'string':
      return typeof value === 'string' ? undefined : 'a text'
    case 'enum':
      if (!Array.isArray(option['enum'])) return undefined
      return listOf(option['enum']).includes(value) ? undefined : `one of ${listOf(option['enum']).join(', ')}`
    case 'integer': {
      const min = integerOf(option['min']) ?? -Infinity
      const max = integerOf(option['max']) ?? Infinity
      const number = integerOf(value)
      return number !== undefined && number >= min && number <= max ? undefined : 'a whole number within the bounds'
    }
    default:
      return undefined
  }
}

function effectRules({ problems, keyAt, at }: RuleContext, option: Fields, index: number): void {
  const template = listOf(option['bin_args_template'])
  const env = Object.values(fieldsOf(option['env']))
  const whenTrue = listOf(option['bin_args_append_when_true'])
  if (template.length + env.length + whenTrue.length === 0) {
    // A model option also acts through the protocol.
    if (option['id'] === 'model') return
    problems.warn('option_without_effect', keyAt('options', index), {
      message: 'The option changes nothing.',

      expected: 'one of bin_args_template, bin_args_append_when_true and env',
    })
    return
  }
  if (option['default'] === true && whenTrue.length > 0 && template.length + env.length === 0) {
    problems.warn('option_without_effect', at('options', index, 'default'), {
      message: 'The flag is never given: true is the default, and a default is not passed.',

      expected: 'default: false',
      given: true,
    })
  }
  const mentions = [...template, ...env].some((text) => typeof text === 'string' && text.includes('{value}'))
  if (option['type'] === 'boolean' || mentions) return
  problems.warn('option_without_effect', keyAt('options', index), {
    message: 'The value of the option is used nowhere.',

    expected: '{value} in bin_args_template or env',
  })
}

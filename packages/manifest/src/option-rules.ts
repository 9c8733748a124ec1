import { asList, asRecord } from '@agentproto/contracts'
import { nearest } from './nearest.js'
import { show } from './problem.js'
import { type Fields, integerOf, type RuleContext, uniqueIds } from './rule-context.js'
import { secretArgumentRule, secretDefaultRule, secretValueRule } from './secret-value-rule.js'

/** AIP-45 Conformance 7, and options that could have no effect. */
export function optionRules(context: RuleContext): void {
  uniqueIds(context, 'options')
  asList(asRecord(context.document)['options']).forEach((entry, index) => {
    const option = asRecord(entry)
    if (typeof option['type'] !== 'string') return
    keyRules(context, option, index)
    boundsRule(context, option, index)
    defaultRule(context, option, index)
    effectRules(context, option, index)
    secretValueRule(context, ['options', index, 'env'])
    secretDefaultRule(context, ['options', index])
    secretArgumentRule(context, option, index)
  })
}

/** Keys that belong to options of one type only, and what to write for another. */
const TYPE_OF_KEY = {
  enum: { type: 'enum' },
  min: { type: 'integer' },
  max: { type: 'integer' },
  bin_args_append_when_true: { type: 'boolean', suggestion: 'bin_args_template' },
} as const

function keyRules({ problems, at, keyAt }: RuleContext, option: Fields, index: number): void {
  const type = String(option['type'])
  if (type === 'enum' && option['enum'] === undefined) {
    problems.error('option_incomplete', at('options', index, 'type'), {
      message: 'An option of type enum needs the key `enum`.',
      expected: 'enum: [first, second]',
    })
  }
  for (const [key, owner] of Object.entries(TYPE_OF_KEY)) {
    if (type === owner.type || option[key] === undefined) continue
    problems.error('key_unknown', keyAt('options', index, key), {
      message: `Only an option of type ${owner.type} has the key \`${key}\`.`,
      expected: `type: ${owner.type}`,
      given: `type: ${type}`,
      suggestion: 'suggestion' in owner ? owner.suggestion : undefined,
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
  const choices = asList(option['enum']).filter((choice) => typeof choice === 'string')
  problems.error('option_default_invalid', at('options', index, 'default'), {
    message: 'The default is not a value of the option.',
    expected,
    given: value,
    suggestion: option['type'] === 'enum' ? nearest(show(value), choices) : undefined,
  })
}

/** What the default should be; `undefined` when it is that. */
function expectedDefault({ type, enum: choices, min, max }: Fields, value: unknown): string | undefined {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false'
    case 'string':
      return typeof value === 'string' ? undefined : 'a string'
    case 'enum':
      return !Array.isArray(choices) || choices.includes(value) ? undefined : `one of ${choices.map(show).join(', ')}`
    case 'integer': {
      const number = integerOf(value) ?? NaN
      const isWithin = number >= (integerOf(min) ?? -Infinity) && number <= (integerOf(max) ?? Infinity)
      return isWithin ? undefined : 'a whole number within the bounds'
    }
    default:
      return undefined
  }
}

function effectRules({ problems, keyAt }: RuleContext, option: Fields, index: number): void {
  const templates = [...asList(option['bin_args_template']), ...Object.values(asRecord(option['env']))]
  const whenTrue = asList(option['bin_args_append_when_true'])
  if (templates.length + whenTrue.length === 0) {
    // A model option also acts through the protocol.
    if (option['id'] === 'model') return
    problems.warn('option_without_effect', keyAt('options', index), {
      message: 'The option has no effect.',
      expected: 'one of bin_args_template, bin_args_append_when_true and env',
    })
  } else if (
    option['type'] !== 'boolean' &&
    !templates.some((text) => typeof text === 'string' && text.includes('{value}'))
  ) {
    problems.warn('option_without_effect', keyAt('options', index), {
      message: 'The value of the option is not used.',
      expected: '{value} in bin_args_template or env',
    })
  }
}

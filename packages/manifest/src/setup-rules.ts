import { asList, asRecord } from '@agentproto/contracts'
import { nearest } from './nearest.js'
import { show } from './problem.js'
import { type Fields, type RuleContext, uniqueIds, valueAt } from './rule-context.js'
import { secretDefaultRule } from './secret-value-rule.js'

/** AIP-29's rules for setup steps: unique ids, prompts that can be answered, and references to earlier steps. */
export function setupRules(context: RuleContext): void {
  uniqueIds(context, 'setup')
  const inputs: string[] = []
  asList(asRecord(context.document)['setup']).forEach((entry, index) => {
    const step = asRecord(entry)
    if (step['kind'] === 'prompt' && step['type'] === 'select') selectRules(context, step, index)
    if (step['kind'] === 'prompt' && step['type'] === 'boolean') booleanRule(context, step, index)
    inputReferences(context, step, { index, inputs })
    secretDefaultRule(context, ['setup', index])
    if (step['kind'] === 'prompt' && typeof step['id'] === 'string') inputs.push(step['id'])
  })
}

function selectRules({ problems, at }: RuleContext, { options, default: fallback }: Fields, index: number): void {
  if (options === undefined) {
    problems.error('step_incomplete', at('setup', index, 'type'), {
      message: 'A prompt of type select needs the key `options`.',
      expected: 'options: [first, second]',
    })
  }
  if (!Array.isArray(options) || fallback === undefined || options.includes(fallback)) return
  problems.error('option_default_invalid', at('setup', index, 'default'), {
    message: 'The default is not one of the options.',
    expected: `one of ${options.map(show).join(', ')}`,
    given: fallback,
    suggestion: nearest(
      show(fallback),
      options.filter((option) => typeof option === 'string'),
    ),
  })
}

function booleanRule({ problems, at }: RuleContext, { default: fallback }: Fields, index: number): void {
  if (typeof fallback !== 'string' || fallback === 'true' || fallback === 'false') return
  problems.error('option_default_invalid', at('setup', index, 'default'), {
    message: 'The default is not a value of the prompt.',
    expected: '"true" or "false"',
    given: fallback,
  })
}

interface Earlier {
  readonly index: number
  /** Ids of the prompts before this step. */
  readonly inputs: readonly string[]
}

const COMMAND_PATHS = [['cmd'], ['prompt'], ['url'], ['skip_if', 'cmd'], ['options', 'cmd'], ['persist', 'cmd']]

/** `${input.ID}` must name a prompt of an earlier step. */
function inputReferences({ problems, at }: RuleContext, step: Fields, { index, inputs }: Earlier): void {
  for (const path of COMMAND_PATHS) {
    const text = valueAt(step, path)
    if (typeof text !== 'string') continue
    for (const [whole, id = ''] of text.matchAll(/\$\{input\.([^}]{0,80})\}/g)) {
      if (inputs.includes(id)) continue
      problems.error('step_reference_unknown', at('setup', index, ...path), {
        message: `${whole} does not name a prompt of an earlier step.`,
        expected: inputs.length === 0 ? 'a prompt step before this one' : `one of ${inputs.join(', ')}`,
        given: id,
        suggestion: nearest(id, inputs),
      })
    }
  }
}

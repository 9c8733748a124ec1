import { fieldsOf, listOf, textOf } from './field.js'
import type { Fields } from './field.js'
import { nearest } from './nearest.js'
import type { RuleContext } from './parse-manifest.js'
import { show } from './problem.js'
import { uniqueIds } from './unique-ids.js'

/** AIP-29's rules for setup steps: unique ids, answerable prompts, and references to what came before. */
export function setupRules(context: RuleContext): void {
  uniqueIds(context, 'setup')
  const inputs: string[] = []
  listOf(fieldsOf(context.document)['setup']).forEach((entry, index) => {
    const step = fieldsOf(entry)
    promptRules(context, step, index)
    inputReferences(context, step, { index, inputs })
    const id = textOf(step['id'])
    if (step['kind'] === 'prompt' && id !== undefined) inputs.push(id)
  })
}

function promptRules({ problems, at }: RuleContext, step: Fields, index: number): void {
  if (step['kind'] !== 'prompt') return
  const options = step['options']
  if (step['type'] === 'select' && options === undefined) {
    problems.error('step_incomplete', at('setup', index, 'type'), {
      message: 'A prompt of type select needs the key `options`.',

      expected: 'options: [first, second]',
    })
  }
  const fallback = step['default']
  if (step['type'] !== 'select' || !Array.isArray(options) || fallback === undefined || options.includes(fallback))
    return
  problems.error('option_default_invalid', at('setup', index, 'default'), {
    message: 'The default is not one of the options.',

    expected: `one of ${options.join(', ')}`,
    given: fallback,
    suggestion: nearest(
      show(fallback),
      options.filter((option) => typeof option === 'string'),
    ),
  })
}

interface Seen {
  readonly index: number
  /** Ids of the prompts before this step. */
  readonly inputs: readonly string[]
}

/** `${input.ID}` must name a prompt of an earlier step. */
function inputReferences({ problems, at }: RuleContext, step: Fields, { index, inputs }: Seen): void {
  for (const { path, text } of commandTexts(step)) {
    for (const [whole, id = ''] of text.matchAll(/\$\{input\.([^}]{0,80})\}/g)) {
      if (inputs.includes(id)) continue
      problems.error('step_reference_unknown', at('setup', index, ...path), {
        message: `${whole} names no prompt of an earlier step.`,

        expected: inputs.length === 0 ? 'a prompt step before this one' : `one of ${inputs.join(', ')}`,
        given: id,
        suggestion: nearest(id, inputs),
      })
    }
  }
}

interface CommandText {
  readonly path: readonly string[]
  readonly text: string
}

const COMMAND_PATHS: readonly (readonly string[])[] = [
  ['cmd'],
  ['prompt'],
  ['url'],
  ['skip_if', 'cmd'],
  ['options', 'cmd'],
  ['persist', 'cmd'],
]

const commandTexts = (step: Fields): readonly CommandText[] =>
  COMMAND_PATHS.flatMap((path) => {
    const value = path.reduce<unknown>((at, key) => fieldsOf(at)[key], step)
    return typeof value === 'string' ? [{ path, text: value }] : []
  })

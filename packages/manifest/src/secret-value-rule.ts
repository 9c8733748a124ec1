import { asList, asRecord } from '@agentproto/contracts'
import { type Fields, type Path, type RuleContext, valueAt } from './rule-context.js'

const SECRET_WORDS = '(?:^|_)(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)'
const SECRET_NAME = new RegExp(`${SECRET_WORDS}(?:_|$)`, 'i')
/** Ends in the word: a `token_file` is a path. */
const SECRET_ID = new RegExp(`${SECRET_WORDS}$`, 'i')

/** A variable whose name says that it is a secret must not have its value in a manifest. */
export function secretValueRule({ document, problems, at }: RuleContext, path: Path): void {
  for (const [name, text] of Object.entries(asRecord(valueAt(document, path)))) {
    if (!SECRET_NAME.test(name) || typeof text !== 'string' || text === '' || text.includes('{value}')) continue
    problems.warn('secret_in_manifest', at(...path, name), {
      message: `\`${name}\` looks like a secret. A manifest must not contain one.`,
      expected: 'a variable that a SECRETS.md exposes',
    })
  }
}

/** AIP-19: a secret never reaches argv, where every process of the machine can read it. */
export function secretArgumentRule({ problems, at }: RuleContext, option: Fields, index: number): void {
  const { id, type, bin_args_template: template } = option
  if (typeof id !== 'string' || type !== 'string' || !SECRET_ID.test(id)) return
  const place = asList(template).findIndex((text) => typeof text === 'string' && text.includes('{value}'))
  if (place === -1) return
  problems.error('secret_in_argv', at('options', index, 'bin_args_template', place), {
    message: `The option \`${id}\` would put a secret into the arguments of a process, which every user can read.`,
    expected: 'a secret of a SECRETS.md, exposed as a variable',
    given: 'bin_args_template',
    suggestion: 'env',
  })
}

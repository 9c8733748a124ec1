import { fieldsOf } from './field.js'
import type { RuleContext } from './parse-manifest.js'

const SECRET_NAME = /(?:^|_)(?:API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(?:_|$)/i

/** A variable whose name says that it is a secret must not have its value in a manifest. */
export function secretValueRule({ document, problems, at }: RuleContext, path: readonly (string | number)[]): void {
  let value: unknown = document
  for (const step of path) value = Array.isArray(value) ? value[Number(step)] : fieldsOf(value)[step]
  for (const [name, text] of Object.entries(fieldsOf(value))) {
    if (!SECRET_NAME.test(name) || typeof text !== 'string' || text === '' || text.includes('{value}')) continue
    problems.warn('secret_in_manifest', at(...path, name), {
      message: `\`${name}\` looks like a secret, and a manifest must not hold one.`,

      expected: 'a variable that SECRETS.md exposes',
    })
  }
}

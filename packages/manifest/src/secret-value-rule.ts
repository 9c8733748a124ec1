import { asList, asRecord, asString } from '@agentproto/contracts'
import { type Fields, type Path, type RuleContext, valueAt } from './rule-context.js'

const SECRET_WORDS = '(?:^|[_-])(?:(?:API|ACCESS|PRIVATE)[_-]?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)'
const SECRET_NAME = new RegExp(`${SECRET_WORDS}(?!.*_(?:FILE|PATH|DIR|STORE|HELPER|LIMIT|TYPE|NAME|URL)$)(?:_|$)`, 'i')
/** Ends in the word: a `token_file` is a path. */
const SECRET_ID = new RegExp(`${SECRET_WORDS}$`, 'i')
/** Known prefixes, signed tokens, private keys, a password in a URL. */
const SECRET_FORM =
  /\b(?:(?:sk|gh[opsu]|github_pat|glpat|xox[abeprs]|hf|agp_[ts])[-_][\w-]{16}|AKIA\w{16}|eyJ[\w-]{10,}\.eyJ)|PRIVATE KEY-|:\/\/[^\s/:@]*:[^\s/@]+@/
/** A switch, a number, a template, or too short. */
const HARMLESS = /^(?:.{0,3}|\d{1,7}|true|false|none|auto|.*\{value\}.*)$/is

/** A manifest never contains a credential. It is known by its form, or by what it is given for. */
function secretRule({ document, problems, at }: RuleContext, path: Path, isSecret: (text: string) => boolean): void {
  const value = valueAt(document, path)
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  if (text === '' || (!SECRET_FORM.test(text) && !isSecret(text))) return
  problems.error('secret_in_manifest', at(...path), {
    message: `\`${path.at(-1)}\` looks like a secret. A manifest must not contain one.`,
    expected: 'a variable that a SECRETS.md exposes',
  })
}

/** The values of variables. */
export function secretValueRule(context: RuleContext, path: Path): void {
  for (const name of Object.keys(asRecord(valueAt(context.document, path))))
    secretRule(context, [...path, name], (text) => isNamedSecret(name, text))
}

/** Whether a variable with this value looks like a secret: a manifest that sets it is not valid. */
export const isSecretVariable = (name: string, value: string): boolean =>
  SECRET_FORM.test(value) || isNamedSecret(name, value)

const isNamedSecret = (name: string, value: string): boolean => SECRET_NAME.test(name) && !HARMLESS.test(value)

/** Names of headers that carry a login. */
const LOGIN_HEADER = /^(?:authorization|cookie)$/i

/** A header, or a parameter of an address. @returns whether it looks like a secret, which is reported then */
export function secretHeaderRule(
  { problems, at }: Pick<RuleContext, 'problems' | 'at'>,
  { path, name, value }: { readonly path: Path; readonly name: string; readonly value: string },
): boolean {
  const isSecret =
    SECRET_FORM.test(value) || isNamedSecret(name, value) || (LOGIN_HEADER.test(name) && !value.includes('{value}'))
  if (isSecret)
    problems.error('secret_in_manifest', at(...path), {
      message: `\`${name.slice(0, 64)}\` looks like a secret. A manifest must not contain one.`,
      expected: 'a header with {secret:<slug>}, and the value by `agentproto secrets set <slug>`',
    })
  return isSecret
}

/** The default of an option or of a setup step. */
export function secretDefaultRule(context: RuleContext, path: Path): void {
  const { id, type, persist } = asRecord(valueAt(context.document, path))
  const isSecret = type === 'secret' || Object.hasOwn(asRecord(persist), 'secret_slug')
  const isNamed = SECRET_ID.test(asString(id) ?? '')
  secretRule(context, [...path, 'default'], (text) => isSecret || (isNamed && !HARMLESS.test(text)))
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

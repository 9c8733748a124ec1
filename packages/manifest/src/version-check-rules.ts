import validRange from 'semver/ranges/valid.js'
import { fieldsOf, textOf } from './field.js'
import type { RuleContext } from './parse-manifest.js'

/** AIP-29 `version_check`: a regular expression with a group, and a range. */
export function versionCheckRules(context: RuleContext, path: readonly string[]): void {
  const check = fieldsOf(path.reduce<unknown>((value, step) => fieldsOf(value)[step], context.document))
  const parse = textOf(check['parse'])
  if (parse !== undefined) regexRules(context, [...path, 'parse'], parse)
  const range = textOf(check['range'])
  if (range === undefined || validRange(range) !== null) return
  context.problems.error('range_invalid', context.at(...path, 'range'), '`version_check.range` is no semver range.', {
    expected: 'an npm range such as >=1.2.0 <2',
    given: range,
  })
}

function regexRules({ problems, at }: RuleContext, path: readonly string[], pattern: string): void {
  const offset = at(...path)
  const problem = regexProblem(pattern)
  if (problem !== undefined) {
    problems.error('regex_invalid', offset, '`version_check.parse` cannot be used.', {
      expected: 'an ECMAScript regular expression with a group around the version',
      given: pattern,
      suggestion: '(\\d+\\.\\d+\\.\\d+)',
    })
  } else if (NESTED_REPETITION.test(pattern)) {
    problems.warn('regex_slow', offset, '`version_check.parse` repeats a repetition, which can take for ever on some outputs.', {
      given: pattern,
    })
  }
}

/** `(a+)+` and its kin: a group that ends in a repetition and is itself repeated. */
const NESTED_REPETITION = /\((?:[^()\\]|\\.)*[+*}]\)(?:[+*]|\{\d+,)/

function regexProblem(pattern: string): string | undefined {
  try {
    // With an empty alternative it matches anything, and so says how many groups there are.
    const groups = new RegExp(`${pattern}|`).exec('')
    return (groups?.length ?? 0) > 1 ? undefined : 'no group'
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : 'no regular expression'
  }
}

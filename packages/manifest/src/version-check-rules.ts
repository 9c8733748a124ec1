import validRange from 'semver/ranges/valid.js'
import { fieldsOf, textOf } from './field.js'
import type { RuleContext } from './parse-manifest.js'
import { regexProblem, regexShape } from './regex-shape.js'

/** AIP-29 `version_check`: a regular expression with a group, and a range. */
export function versionCheckRules(context: RuleContext, path: readonly string[]): void {
  const check = fieldsOf(path.reduce<unknown>((value, step) => fieldsOf(value)[step], context.document))
  const parse = textOf(check['parse'])
  if (parse !== undefined) regexRules(context, [...path, 'parse'], parse)
  const range = textOf(check['range'])
  if (range === undefined || range.length > 1_000 || validRange(range) !== null) return
  context.problems.error('range_invalid', context.at(...path, 'range'), {
    message: '`version_check.range` is no semver range.',

    expected: 'an npm range such as >=1.2.0 <2',
    given: range,
  })
}

function regexRules({ problems, at }: RuleContext, path: readonly string[], pattern: string): void {
  // The schema has refused it already.
  if (pattern === '' || pattern.length > PATTERN_CHARS_MAX) return
  const problem = regexProblem(pattern)
  if (problem !== undefined) {
    problems.error('regex_invalid', at(...path), {
      message: `\`version_check.parse\` cannot be used: ${problem}.`,

      expected: 'an ECMAScript regular expression with a group around the version',
      given: pattern,
      suggestion: '(\\d+\\.\\d+\\.\\d+)',
    })
  } else if (regexShape(pattern).nestedRepetition) {
    problems.warn('regex_slow', at(...path), {
      message: '`version_check.parse` repeats a repetition, which can take for ever on some outputs.',

      given: pattern,
    })
  }
}

const PATTERN_CHARS_MAX = 1_000

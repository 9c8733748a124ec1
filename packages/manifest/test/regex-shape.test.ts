import { expect, test } from 'vitest'
import { regexProblem, regexShape } from '../src/regex-shape.js'

test.each([
  ['(\\d+)', 1],
  ['(?:a)(b)(?<c>d)', 2],
  ['(?=a)(?!b)(?<=c)(?<!d)', 0],
  ['\\(a\\)', 0],
  ['[(]a[)]', 0],
  ['[\\](](a)', 1],
  ['[^)](a)', 1],
])('%s has %d groups', (pattern, groups) => {
  expect(regexShape(pattern).groups).toBe(groups)
})

test.each(['(a+)+', '(a*)*', '(a+){2,}', '((a)+)+', '(?:x|y+)*', '(a{1,})+'])('%s repeats a repetition', (pattern) => {
  expect(regexShape(pattern).nestedRepetition).toBe(true)
})

test.each(['(\\d+\\.\\d+)', '(\\d+)?', '(?:\\d+\\.)+(x)', '(a{2})+', '[+*]+(x)', '\\++(x)'])(
  '%s does not',
  (pattern) => {
    expect(regexShape(pattern).nestedRepetition).toBe(false)
  },
)

test.each([
  ['(', 'Unterminated group'],
  ['\\d+', 'no group'],
  ['(a{1,99999})', 'too complex'],
  ['(((a{1,999}){1,999}){1,999})', 'too complex'],
  ['('.repeat(21) + 'a' + ')'.repeat(21), 'too complex'],
])('%s cannot be used', (pattern, reason) => {
  expect(regexProblem(pattern)).toContain(reason)
})

test('the expressions of real manifests can be used', () => {
  for (const pattern of [
    '(\\d+\\.\\d+\\.\\d+)',
    '/(?:^|[\\s\\/@v])(\\d+\\.\\d+\\.\\d+(?:[-+][0-9A-Za-z.-]+)?)(?=[\\s).,]|$)/m',
    'v([0-9]{1,4}\\.[0-9]{1,4})',
  ]) {
    expect(regexProblem(pattern)).toBeUndefined()
  }
})

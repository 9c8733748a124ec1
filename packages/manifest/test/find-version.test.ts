import { expect, test } from 'vitest'
import { findVersion } from '@agentproto/manifest/node'

const parse = '(\\d+\\.\\d+\\.\\d+(?:-[\\w.]+)?)'

test.each([
  ['2.1.330 (Claude Code)', '>=2.0.0', '2.1.330', true],
  ['codex-cli 0.166.0', '>=1', '0.166.0', false],
  ["GitHub Copilot CLI 1.0.102.\nRun 'copilot update'", '^1.0.0', '1.0.102', true],
  ['1.2.3-beta.1', '>=1.0.0', '1.2.3-beta.1', true],
])('in %j the version is found and compared', (output, range, version, inRange) => {
  expect(findVersion({ parse, range }, output)).toEqual({ found: true, version, inRange })
})

test.each([
  ['no version', parse, 'hello', 'found no version'],
  ['no semver', '(\\w+)', 'hello', 'not a version: hello'],
  ['an expression without a group', '\\d', '1.2.3', 'no group'],
  ['an expression that would kill V8', '(((a{1,999}){1,999}){1,999})', 'a', 'too complex'],
])('%s is reported', (_, pattern, output, reason) => {
  expect(findVersion({ parse: pattern, range: '*' }, output)).toEqual({
    found: false,
    reason: expect.stringContaining(reason),
  })
})

test('an expression that runs too long is stopped', () => {
  const began = performance.now()
  expect(findVersion({ parse: '^(a+)+$', range: '*' }, `${'a'.repeat(40)}!`)).toMatchObject({
    found: false,
    reason: expect.stringContaining('did not finish'),
  })
  expect(performance.now() - began).toBeLessThan(12_000)
})

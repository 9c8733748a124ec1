import { expect, test } from 'vitest'
import { countLine, skipSummary } from '../plain-count-reporter.ts'
import { findProgram } from '../programs.mjs'
import { needs } from '../needs.ts'

test('the last line always has all three counts', () => {
  expect(countLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed, 0 skipped')
  expect(countLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
})

test('the summary names each missing program once, with its package', () => {
  const missing = [['tmux'], ['opencode'], ['tmux', 'zsh'], []]
  expect(skipSummary(missing.map((names) => ({ file: 'a.test.ts', missing: names })))).toEqual([
    'Skipped tests:',
    expect.stringMatching(/^ {2}opencode: 1 test; npm package opencode-ai@\S+, installed by pnpm test:agents$/),
    '  tmux: 2 tests; Debian package tmux',
    '  zsh: 1 test; Debian package zsh',
    '  a.test.ts: 1; by the file itself, or by a filter',
  ])
  expect(skipSummary([])).toEqual([])
})

test('a test is skipped for a program that is missing, and the program is on record', () => {
  const here = findProgram('opencode') === undefined ? MISSING : {}
  expect(needs('opencode')).toEqual(here)
  expect(() => needs('no-such-program')).toThrow('tooling/programs.mjs')
})

const MISSING = { skip: true, meta: { missing: ['opencode'] } }

import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { completing } from '../src/completion/candidates.js'
import { createProgram } from '../src/program.js'

const io = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, cwd: '/' }
const program = createProgram(io, () => Promise.resolve())
const next = (...words: string[]) => {
  const { candidates, noun } = completing(program, words)
  return { words: candidates.map(({ word }) => word), noun }
}

test.each([
  [['wor'], ['workspace'], undefined],
  [['sessions', 'in'], ['interrupt'], undefined],
  [['sessions', 'start', 'demo', '--permissions', 'approve-'], ['approve-all', 'approve-reads'], undefined],
  [['sessions', 'prompt', 'try', 'text', '--when-busy', 'q'], ['queue'], undefined],
  [['sessions', 'prompt', ''], [], 'session'],
  [['sessions', 'kill', 's_1', ''], [], 'session'],
  [['sessions', '--attach', ''], [], 'session'],
  [['sessions', 'start', ''], [], 'adapter'],
  [['run', ''], [], 'adapter'],
  [['sessions', 'start', 'demo', '--workspace', ''], [], 'workspace'],
  [['workspace', 'use', ''], [], 'workspace'],
  [['config', 'set', 'sess'], [], 'key'],
  [['completion', ''], ['bash', 'fish', 'zsh'], undefined],
  [['sessions', 'show', 'try', ''], [], undefined],
] as const)('%j is completed', (words, expected, noun) => {
  const found = next(...words)
  expect({ words: found.words.toSorted(), noun: found.noun }).toEqual({ words: expected, noun })
})

test('options are offered once a dash is typed, and hidden commands never', () => {
  expect(next('sessions', 'logs', 'try', '--f').words).toEqual(['--follow'])
  expect(next('sessions', 'wait', 'try', '-').words).toEqual(expect.arrayContaining(['--turn', '--json', '--help']))
  expect(next('comp').words).toEqual(['completion'])
})

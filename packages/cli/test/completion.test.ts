import { PassThrough } from 'node:stream'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { completionsFor } from '../src/completion/completions.js'
import { createProgram } from '../src/program.js'

const context = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, cwd: '/' }
const program = await createProgram(context, () => () => Promise.resolve())
const next = (...words: string[]) => {
  const { candidates, names } = completionsFor(program, words)
  return { words: candidates.map(({ word }) => word), names }
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
  [['acp', '--remote', ''], [], 'gateway'],
  [['remote', 'logout', ''], [], 'gateway'],
  [['completion', ''], ['bash', 'fish', 'zsh'], undefined],
  [['sessions', 'show', 'try', ''], [], undefined],
] as const)('%j is completed', (words, expected, names) => {
  const found = next(...words)
  expect({ words: found.words.toSorted(), names: found.names }).toEqual({ words: expected, names })
})

test('options are offered after a dash, and hidden commands never', () => {
  expect(next('sessions', 'logs', 'try', '--f').words).toEqual(['--follow'])
  expect(next('sessions', 'wait', 'try', '-').words).toEqual(expect.arrayContaining(['--turn', '--json', '--help']))
  expect(next('comp').words).toEqual(['completion'])
})

test('each argument of a command completes names or choices, or is free text', () => {
  const FREE = ['text', 'prompt', 'file', 'source', 'path', 'requestId', 'ruleId', 'name', 'value', 'words', 'agent']
  const unknown = commandsBelow(program).flatMap(({ path, command }) =>
    command.registeredArguments.flatMap((argument, index) => {
      const before = command.registeredArguments.slice(0, index).map(() => 'x')
      const { candidates, names } = completionsFor(program, [...path, ...before, ''])
      const isKnown = candidates.length > 0 || names !== undefined || FREE.includes(argument.name())
      return isKnown ? [] : [`${path.join(' ')} <${argument.name()}>`]
    }),
  )
  expect(unknown).toEqual([])
})

function commandsBelow(
  command: Command,
  above: readonly string[] = [],
): { path: readonly string[]; command: Command }[] {
  return command.commands.flatMap((child) => {
    const path = [...above, child.name()]
    return [{ path, command: child }, ...commandsBelow(child, path)]
  })
}

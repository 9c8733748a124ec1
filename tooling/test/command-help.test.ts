import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Io } from '../../packages/cli/src/io.ts'
import { createProgram, runProgram } from '../../packages/cli/src/program.ts'

type Command = ReturnType<typeof createProgram>

function io(): { readonly io: Io; text(): string } {
  const stdout = new PassThrough()
  const read = (): string => String(stdout.read() ?? '')
  return { io: { stdin: new PassThrough(), stdout, stderr: new PassThrough(), env: {}, cwd: '/' }, text: read }
}

// People look at `--help` first. A new command needs a line in packages/cli/src/program/examples.ts.

function paths(command: Pick<Command, 'commands' | 'name'>, path: readonly string[] = []): string[][] {
  return [[...path], ...command.commands.flatMap((child) => paths(child, [...path, child.name()]))]
}

const all = paths(createProgram(io().io, () => Promise.resolve()))

test.each(all)('--help of %s %s %s says what it does and shows examples', async (...path) => {
  const { io: own, text } = io()
  const words = path.filter((word) => typeof word === 'string')
  expect(await runProgram(own, [...words, '--help'])).toBe(0)
  const help = text()
  expect(help).toMatch(/^Usage: agentproto/)
  expect(help).toContain('Examples:')
  // Each example is a command that this program has.
  const examples = [...help.matchAll(/^ {2}\$ .*?\bagentproto (.*)$/gm)].map(([, words_ = '']) => words_)
  expect(examples.length).toBeGreaterThan(0)
  for (const example of examples) expect(known(example), example).toBe(true)
})

/** Whether the words of an example name a command. */
function known(example: string): boolean {
  const names = new Set(all.map((path) => path.join(' ')))
  const words = example.split(' ').filter((word) => !word.startsWith('-'))
  return names.has(words.slice(0, 2).join(' ')) || names.has(words[0] ?? '')
}

test('every option has a description', () => {
  const silent: string[] = []
  const look = (command: Pick<Command, 'commands' | 'name' | 'options'>): void => {
    for (const { flags, description } of command.options)
      if (description === '') silent.push(`${command.name()} ${flags}`)
    command.commands.forEach(look)
  }
  look(createProgram(io().io, () => Promise.resolve()))
  expect(silent).toEqual([])
})

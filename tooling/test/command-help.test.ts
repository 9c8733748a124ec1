import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { CliContext } from '../../packages/cli/src/cli-context.ts'
import { createProgram, runProgram } from '../../packages/cli/src/program.ts'
import { ROOT } from '../packages.ts'

type Command = Awaited<ReturnType<typeof createProgram>>

function recording(): { readonly context: CliContext; text(): string } {
  const stdout = new PassThrough()
  const read = (): string => String(stdout.read() ?? '')
  return { context: { stdin: new PassThrough(), stdout, stderr: new PassThrough(), env: {}, cwd: '/' }, text: read }
}

// `--help` is where people look first. Each file of packages/cli/src/commands has the examples of its command.

function paths(command: Pick<Command, 'commands' | 'name'>, path: readonly string[] = []): string[][] {
  return [[...path], ...command.commands.flatMap((child) => paths(child, [...path, child.name()]))]
}

const program = await createProgram(recording().context, () => () => Promise.resolve())
const all = paths(program)

test.each(all)('--help of %s %s %s shows what it does and examples', async (...path) => {
  const { context, text } = recording()
  const words = path.filter((word) => typeof word === 'string')
  expect(await runProgram(context, [...words, '--help'])).toBe(0)
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
  look(program)
  expect(silent).toEqual([])
})

test('docs/cli.md lists every command with its description', () => {
  const rows = (command: Pick<Command, 'commands' | 'name' | 'description'>, path: readonly string[]): string[] =>
    command.commands.flatMap((child) => {
      const below = [...path, child.name()]
      const isShown = child.commands.length === 0 || below.join() === 'sessions'
      const row = `| \`${below.join(' ')}\` | ${child.description().replaceAll('|', '\\|')} |`
      return [...(isShown && child.name() !== 'complete' ? [row] : []), ...rows(child, below)]
    })
  const table = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8').split('| command | what it does |\n|---|---|\n')[1]
  expect(table?.trim().split('\n')).toEqual(rows(program, []))
})

import type { CliCommand } from '../packages/cli/src/cli-command.ts'

type Command = CliCommand['commands'][number]

/** Finds the commands that a text names, and what of them the command line does not have. */

export interface NamedCommand {
  readonly line: number
  /** The words after `agentproto`; a value that is filled in is `X`. */
  readonly words: readonly string[]
  /** The character before it, without spaces: a colon, a quote, or a letter of a sentence. */
  readonly before: string
}

/** Commands in string literals and code spans, and what looks like one in a sentence. */
export function namedCommands(text: string): readonly NamedCommand[] {
  return text.split('\n').flatMap((content, at) => {
    const line = filled(content)
    return [...line.matchAll(/\bagentproto (?=[a-z<-])(?!does)([^`]*)/g)].map(({ index, 1: rest = '' }) => {
      const [command = ''] = rest.split(END)
      const before = line.slice(0, index).trimEnd().slice(-1)
      return { line: at + 1, words: withoutForeign(command.trim().split(/\s+/)), before }
    })
  })
}

/** What a template fills in is one word. */
const filled = (content: string): string => content.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, 'X')

/** What follows `--` belongs to another program. */
function withoutForeign(words: readonly string[]): readonly string[] {
  const at = words.indexOf('--')
  return at < 0 ? words : words.slice(0, at)
}

/** Where a command ends: punctuation before a space or the end, a pipe, the end of a literal, a comment. */
const END =
  /(?<=\S)[.,;:?](?=\s|$|['"])|\)|\s[|&#>]|\s{2,}|(?<!\s)'(?=[\s,)\]};]|$)|(?<!\s)"(?=[,)\]};]|$)|\\n| – | or | and | to /

/** What a named command has that the command line does not, as a sentence; undefined when it can be run. */
export function problemOf(program: Command, { words }: NamedCommand, wantsArguments: boolean): string | undefined {
  const { command, rest } = walk(program, words)
  const path = ['agentproto', ...pathOf(command)].join(' ')
  const [first = ''] = rest
  if (command.commands.length > 0 && /^[a-z]/.test(first)) return `${path} has no command ${first}`
  const { operands, unknown } = read(command, rest)
  if (unknown !== undefined) return `${path} has no option ${unknown}`
  const needed = command.registeredArguments.filter(({ required }) => required).map((each) => each.name())
  return wantsArguments && operands < needed.length ? `${path} needs ${needed.join(' ')}` : undefined
}

function walk(program: Command, words: readonly string[]): { command: Command; rest: readonly string[] } {
  let command = program
  for (const [at, word] of words.entries()) {
    const child = command.commands.find((each) => each.name() === word)
    if (child === undefined) return { command, rest: words.slice(at) }
    command = child
  }
  return { command, rest: [] }
}

const pathOf = (command: Command): readonly string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()]

/** How many operands a command has, and its first option that does not exist. */
function read(command: Command, words: readonly string[]): { operands: number; unknown?: string } {
  let operands = 0
  let isValue = false
  for (const word of words) {
    const [flag = ''] = word.replace(/[\])'"]+$/, '').split('=')
    const isOption = /^--?[a-z]/i.test(flag)
    const option = command.options.find(({ long, short }) => long === flag || short === flag)
    if (isOption && option === undefined && !GLOBAL.has(flag)) return { operands, unknown: flag }
    if (!isOption && !isValue) operands += 1
    isValue = option?.required === true && !word.includes('=')
  }
  return { operands }
}

const GLOBAL: ReadonlySet<string> = new Set(['--help', '-h', '--no-start', '--version'])

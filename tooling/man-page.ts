import type { EventEmitter } from 'node:events'
import type { createProgram } from '../packages/cli/src/program.ts'

type Command = Awaited<ReturnType<typeof createProgram>>

export interface ManPage {
  /** `agentproto-sessions.1`. */
  readonly file: string
  readonly text: string
}

/** A troff page for the program, and one for each command with its subcommands. */
export function manPages(program: Command): readonly ManPage[] {
  const children = visible(program)
  return [
    pageOf(
      program,
      children.map((child) => `agentproto-${child.name()}(1)`),
    ),
    ...children.map((child) => pageOf(child, ['agentproto(1)'])),
  ]
}

function pageOf(command: Command, seeAlso: readonly string[]): ManPage {
  const name = pathOf(command).join('-')
  const isRoot = command.parent === null
  const lines = [
    // No date: the pages are reproducible.
    `.TH "${name.toUpperCase()}" 1 "" "agentproto" "agentproto"`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(command.description())}`,
    '.SH SYNOPSIS',
    ...synopsis(command),
    ...(isRoot ? commandList(command) : []),
    ...options(command, ['.SH OPTIONS']),
    ...(isRoot ? [] : visible(command).flatMap((child) => section(child))),
    ...afterText(command),
    '.SH SEE ALSO',
    seeAlso.map((page) => bold(page.replace('(1)', '')) + '(1)').join(',\n'),
  ]
  return { file: `${name}.1`, text: `${lines.join('\n')}\n` }
}

/** A subcommand. */
function section(command: Command): string[] {
  return [
    `.SH ${command.name().toUpperCase()}`,
    ...synopsis(command),
    '.PP',
    escaped(sentence(command.description())),
    ...options(command, []),
    ...examples(helpAfter(command)),
  ]
}

function synopsis(command: Command): string[] {
  const usage = command.createHelp().commandUsage(command).replace(/\s+/g, ' ')
  return [bold(usage)]
}

const commandList = (command: Command): string[] => [
  '.SH COMMANDS',
  ...visible(command).flatMap((child) => ['.TP', bold(child.name()), escaped(sentence(child.description()))]),
]

function options(command: Command, heading: readonly string[]): string[] {
  const help = command.createHelp()
  const all = help.visibleOptions(command).filter(({ long }) => long !== '--help')
  const rows = all.flatMap((option) => ['.TP', bold(option.flags), escaped(sentence(help.optionDescription(option)))])
  return rows.length === 0 ? [] : [...heading, ...rows]
}

/** The text after the options in `--help`: examples verbatim, anything else as paragraphs. */
function afterText(command: Command): string[] {
  const text = helpAfter(command)
  const rest = text
    .split(/\n\s*\n/)
    .filter((part) => !part.trim().startsWith('Examples:'))
    .flatMap((part) => titled(part.trim()))
  return [...examples(text), ...rest]
}

function examples(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('  $ '))
  if (lines.length === 0) return []
  return ['.PP', 'Examples:', '.PP', '.nf', ...lines.map((line) => escaped(line.slice(2))), '.fi']
}

function titled(part: string): string[] {
  const [first = '', ...rest] = part.split('\n')
  if (part === '') return []
  if (!first.endsWith(':')) return ['.PP', ...part.split('\n').map(escaped)]
  return [`.SH ${first.slice(0, -1).toUpperCase()}`, '.nf', ...rest.map((line) => escaped(line.trim())), '.fi']
}

/** Commander returns the added text only through an event, and its types omit that a command is an emitter. */
function helpAfter(command: Command): string {
  const parts: string[] = []
  const context = { error: false, command, write: (text: string) => void parts.push(text) }
  const emitter: unknown = command
  ;(emitter as EventEmitter).emit('afterHelp', context)
  return parts.join('\n')
}

const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help')

const pathOf = (command: Command): string[] =>
  command.parent === null ? [command.name()] : [...pathOf(command.parent), command.name()]

const sentence = (text: string): string => (/[.)]$/.test(text) ? text : `${text}.`)
const bold = (text: string): string => `\\fB${escaped(text)}\\fR`

/** Escapes the characters and the line starts that are special in troff. */
function escaped(text: string): string {
  const plain = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('’', "'").replaceAll('…', '...')
  return /^[.']/.test(plain) ? `\\&${plain}` : plain
}

import type { Command } from 'commander'

/** Why a command line cannot be run, by the codes of Commander. */
export type UsageKind =
  | 'unknown-command'
  | 'unknown-option'
  | 'excess-arguments'
  | 'missing-argument'
  | 'invalid-value'
  | 'other'

/** A command line that cannot be parsed: what is wrong, and the command at which it was found. */
export class UsageProblem extends Error {
  readonly command: Command
  /** Commander's sentence. */
  readonly what: string
  readonly kind: UsageKind

  /** @param code Commander's */
  constructor(command: Command, what: string, code: string) {
    super(what)
    this.name = 'UsageProblem'
    this.command = command
    this.what = what
    this.kind = unknownWord(command) === undefined ? (KINDS[code] ?? 'other') : 'unknown-command'
  }
}

const KINDS: Readonly<Record<string, UsageKind>> = {
  'commander.unknownCommand': 'unknown-command',
  'commander.unknownOption': 'unknown-option',
  'commander.excessArguments': 'excess-arguments',
  'commander.missingArgument': 'missing-argument',
  'commander.invalidArgument': 'invalid-value',
}

/** The first word after a group, if it names none of its commands. It counts before every other mistake. */
export function unknownWord({ commands, args: [word] }: Command): string | undefined {
  if (commands.length === 0 || word === undefined || word.startsWith('-')) return undefined
  return commands.some((command) => command.name() === word) || word === 'help' ? undefined : word
}

/** The words that name a command, without that of the program. */
export function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()]
}

import { Command, type HelpContext, Option } from 'commander'
import type { CliContext } from './cli-context.js'
import { unknownWord, UsageProblem } from './usage-errors/usage-problem.js'

/** What a command prints when it is done. */
export interface CommandResult {
  /** The document of `--json`, which is then all that is printed. */
  readonly json?: unknown
  /** For stdout. */
  readonly text?: string | readonly string[] | undefined
  /** For stderr. */
  readonly note?: string | undefined
  /** Default: 0. */
  readonly exit?: number
}

/** Does what a command is for. A number is the exit code of one that has printed. */
export type Work<Args extends readonly unknown[]> = (
  context: CliContext,
  ...args: Args
) => Promise<CommandResult | number | void>

/** Makes an action from work. */
export type Run = <Args extends readonly unknown[]>(work: Work<Args>) => (...args: Args) => Promise<void>

/** Adds description, options, examples and action to a command. */
export type Define = (command: CliCommand) => void

/** A file of `commands/`, for the command that is named like it. */
export interface CommandFile {
  readonly define: Define
  readonly children?: CommandFiles
  /** A group that is also a command of its own: without a further word, its children are not loaded. */
  readonly runsAlone?: boolean
}

export type CommandFiles = Readonly<Record<string, () => Promise<CommandFile>>>

/** A command of Commander, with what ours have in common. */
export class CliCommand extends Command {
  readonly #run: Run

  constructor(name: string, run: Run) {
    super(name)
    this.#run = run
  }

  /** Commander calls this for every mistake in a command line. `runProgram` reports it, with what may be meant. */
  override error(message: string, { code = '' }: { readonly code?: string } = {}): never {
    throw new UsageProblem(this, message, code)
  }

  /** The help of a group is not the help of a command that it does not have. */
  override helpInformation(options?: HelpContext): string {
    if (unknownWord(this) !== undefined) throw new UsageProblem(this, 'unknown command', 'commander.unknownCommand')
    return super.helpInformation(options)
  }

  override createCommand(name: string): CliCommand {
    return new CliCommand(name, this.#run)
  }

  /** @param usage Name and arguments, such as `get <key>` */
  subcommand(usage: string, description: string): CliCommand {
    return this.command(usage).description(description)
  }

  json(description = 'as JSON'): this {
    return this.option('--json', description)
  }

  /** An option with one of these values. */
  choice(flags: string, description: string, values: readonly string[]): this {
    return this.addOption(new Option(flags, description).choices(values))
  }

  /** The examples at the end of the help. Tests check that each names a command. */
  examples(...lines: readonly string[]): this {
    const commands = lines.map((line) => `  $ ${line.includes('| agentproto ') ? line : `agentproto ${line}`}`)
    return this.addHelpText('after', `\nExamples:\n${commands.join('\n')}`)
  }

  run<Args extends readonly unknown[]>(work: Work<Args>): this {
    return this.action(this.#run(work))
  }
}

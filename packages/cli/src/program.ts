import { Writable } from 'node:stream'
import { EXIT, toAgentprotoError } from '@agentproto/contracts'
import { type Command, CommanderError } from 'commander'
import { CliCommand, type CommandResult, type Run } from './cli-command.js'
import { paintFor, print, printJson, type CliContext } from './cli-context.js'
import { addCommands } from './commands.js'
import { addCompleteCommand } from './completion/complete-command.js'
import { withConnectionStep } from './connection-steps.js'
import type { CommandTree } from './usage-errors/usage-error.js'
import { withLastStep } from './usage-errors/last-step.js'
import { withMeantName } from './usage-errors/meant-name.js'
import { UsageProblem } from './usage-errors/usage-problem.js'
import { version } from './version.js'

const HELP = `
Examples:
  $ agentproto run demo --prompt "hello"          send one prompt, without a gateway
  $ agentproto adapters install opencode          install an agent, without root
  $ agentproto workspace add . --use              name this folder and make it the active workspace
  $ agentproto sessions start demo --label try    start a session in this workspace
  $ agentproto sessions --attach try              talk to it; Ctrl-C twice detaches
  $ agentproto sessions --watch                   show all sessions, live

Environment:
  AGENTPROTO_HOME   folder for all data (default: ~/.agentproto)
  AGENTPROTO_URL, AGENTPROTO_TOKEN   a gateway elsewhere (default: the one of the home)
  AGENTPROTO_TLS_CA, AGENTPROTO_TLS_CERT, AGENTPROTO_TLS_KEY   PEM files for a gateway with TLS: CA, own certificate, own key
  AGENTPROTO_NO_START   when set, no command starts the gateway, as with --no-start
  NO_COLOR          when set, no colours

Exit codes: 0 ok, 1 failed, 2 usage, 3 timeout, 4 no session or empty turn, 5 denied, 130 interrupted`

/** Parses the command line and runs the command. Never throws: a failure is reported on stderr. */
export async function runProgram(context: CliContext, argv: readonly string[]): Promise<number> {
  try {
    return await runCommand(context, withoutHelpWord(argv))
  } catch (thrown) {
    // Commander has already printed the help.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage
    const explained = withMeantName(argv, await withConnectionStep(context, thrown))
    return reportFailure(context, explained, wantsJson(argv))
  }
}

/** Runs a command line. One with words of other tools is run as what they stand for. */
async function runCommand(context: CliContext, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok
  let autoStart = !context.env['AGENTPROTO_NO_START']
  let asJson = false
  let running: Command | undefined
  const run: Run =
    (work) =>
    async (...args) => {
      await (await import('./home-format.js')).useHome(context, topLevelName(running))
      const result = await work({ ...context, autoStart }, ...args)
      exitCode = typeof result === 'object' ? printResult(context, result, asJson) : (result ?? EXIT.ok)
    }
  try {
    const program = await createProgram(context, run, wordsOf(argv))
    program.hook('preAction', (_, command) => {
      const { start, json } = command.opts()
      if (start === false) autoStart = false
      asJson = json === true
      running = command
    })
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (thrown) {
    if (!(thrown instanceof UsageProblem)) throw running === undefined ? thrown : withLastStep(running, thrown)
    const meant = await meaning(thrown, argv)
    if (meant !== undefined) return runCommand(context, meant)
    const { usageError } = await import('./usage-errors/usage-error.js')
    throw await usageError(await commandTree(context), thrown, argv)
  }
}

/** The first word of a command; empty before one runs. */
function topLevelName(command: Command | undefined): string {
  const parent = command?.parent
  return parent?.parent ? topLevelName(parent) : (command?.name() ?? '')
}

/** `help a b` and `a help b` are `a b --help`. */
function withoutHelpWord(argv: readonly string[]): readonly string[] {
  const at = argv.slice(0, 2).indexOf('help')
  if (at < 0 || argv.length === 1) return argv
  return [...argv.filter((word, index) => index !== at && !word.startsWith('-')), '--help']
}

async function meaning(problem: UsageProblem, argv: readonly string[]): Promise<readonly string[] | undefined> {
  const [{ meaningOf }, { children }] = await Promise.all([
    import('./usage-errors/suggestions.js'),
    import('./commands/sessions/sessions.js'),
  ])
  return meaningOf(problem, argv, Object.keys(children))
}

/** All commands, to find what may be meant. Nothing is run and nothing printed. */
async function commandTree(context: CliContext): Promise<CommandTree> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const quiet: CliContext = { ...context, stdout: silent, stderr: silent }
  const create = (): Promise<Command> => createProgram(quiet, () => () => Promise.resolve())
  async function problemOf(argv: readonly string[]): Promise<UsageProblem | undefined> {
    try {
      await (await create()).parseAsync(argv, { from: 'user' })
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof UsageProblem)) return undefined
      const meant = await meaning(thrown, argv)
      return meant === undefined ? thrown : problemOf(meant)
    }
  }
  return { program: await create(), problemOf }
}

function printResult(context: CliContext, { json, text, note, exit }: CommandResult, asJson: boolean): number {
  if (asJson) printJson(context, json)
  if (!asJson && text !== undefined) print(context.stdout, text)
  if (!asJson && note !== undefined) print(context.stderr, note)
  return exit ?? EXIT.ok
}

/**
 * Reports a failure on stderr: one line that ends with the next step, or with `asJson` the problem document.
 * @returns the exit code of the error table
 */
function reportFailure(context: CliContext, thrown: unknown, asJson: boolean): number {
  const error = toAgentprotoError(thrown)
  const { stderr, env } = context
  if (asJson) print(stderr, JSON.stringify(error.toProblem()))
  else print(stderr, `${paintFor(context, stderr).red('agentproto:')} ${error.message.replace(/\s+/g, ' ')}`)
  // An AgentprotoError is a sentence for the user. Anything else is a defect, where the stack helps.
  if (error.code === 'internal' && env['AGENTPROTO_DEBUG'] && error.cause instanceof Error) {
    print(stderr, error.cause.stack ?? '')
  }
  return error.row.exit
}

/**
 * The command line as a tree, from which help, completion and man pages are made.
 * @param words Load the commands that these words name, instead of all
 */
export async function createProgram(context: CliContext, run: Run, words?: readonly string[]): Promise<Command> {
  const program = new CliCommand('agentproto', run)
    .description('The control plane for coding-agent CLIs: start, drive and watch many of them.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', HELP)
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => print(context.stdout, text.replace(/\n$/, '')),
      writeErr: (text) => print(context.stderr, text.replace(/\n$/, '')),
    })
  await addCommands(program, words)
  addCompleteCommand(program)
  return program
}

/** The words that select which commands are loaded. An empty last word stands for the whole level. */
function wordsOf(argv: readonly string[]): string[] {
  const isCompletion = argv[0] === 'complete'
  const typed = isCompletion ? argv.slice(argv.indexOf('--') + 1, -1) : argv
  const words = typed.filter((arg) => !arg.startsWith('-') && arg !== 'help')
  const wantsHelp = argv.some((arg) => arg === '-h' || arg === '--help' || arg === 'help')
  return isCompletion || wantsHelp ? [...words, ''] : words
}

/** Read from the bare arguments, because a failure may occur before they are parsed. */
const wantsJson = (argv: readonly string[]): boolean =>
  argv.some(
    (arg, index) =>
      arg === '--json' ||
      (/^(--output=)?jsonl?$/.test(arg) && (arg.startsWith('--') || argv[index - 1] === '--output')),
  )

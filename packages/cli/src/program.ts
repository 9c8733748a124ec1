import { EXIT, toAgentprotoError } from '@agentproto/contracts'
import { type Command, CommanderError } from 'commander'
import { CliCommand, type CommandResult, type Run } from './cli-command.js'
import { paintFor, print, printJson, type CliContext } from './cli-context.js'
import { addCommands } from './commands.js'
import { addCompleteCommand } from './completion/complete-command.js'
import { version } from './version.js'

const HELP = `
Examples:
  $ agentproto run demo --prompt "hello"          send one prompt, without a gateway
  $ agentproto adapters install opencode          install an agent, without root
  $ agentproto workspace add . --use              name this folder and make it the active workspace
  $ agentproto sessions start demo --label try    start a session in the active workspace
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
  let exitCode: number = EXIT.ok
  let autoStart = !context.env['AGENTPROTO_NO_START']
  let asJson = false
  const run: Run =
    (work) =>
    async (...args) => {
      const result = await work({ ...context, autoStart }, ...args)
      exitCode = typeof result === 'object' ? printResult(context, result, asJson) : (result ?? EXIT.ok)
    }
  try {
    const program = await createProgram(context, run, wordsOf(argv))
    program.hook('preAction', (_, command) => {
      const { start, json } = command.opts()
      if (start === false) autoStart = false
      asJson = json === true
    })
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (thrown) {
    // Commander has already printed its message or the help.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage
    return reportFailure(context, thrown, wantsJson(argv))
  }
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
    .exitOverride()
    .configureOutput({
      writeOut: (text) => print(context.stdout, text.replace(/\n$/, '')),
      writeErr: (text) => print(context.stderr, text.replace(/\n$/, '')),
      outputError: (text, write) =>
        write(`${paintFor(context, context.stderr).red('agentproto:')} ${usageLine(text)}\n`),
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

/** Commander's message on one line, with what to do next. */
function usageLine(text: string): string {
  const message = text
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim()
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?)]$/.test(message) ? '' : '.'} Try: --help.`
}

/** Read from the bare arguments, because a failure may occur before they are parsed. */
const wantsJson = (argv: readonly string[]): boolean =>
  argv.some(
    (arg, index) =>
      arg === '--json' ||
      (/^(--output=)?jsonl?$/.test(arg) && (arg.startsWith('--') || argv[index - 1] === '--output')),
  )

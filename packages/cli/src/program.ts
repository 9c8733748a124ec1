import { EXIT } from '@agentproto/contracts'
import { Command, CommanderError } from 'commander'
import { tellFailure } from './failure.js'
import { paintOf, type Io, type Run } from './io.js'
import { addExamples } from './program/examples.js'
import { addAdapterCommands } from './program/adapter-commands.js'
import { addBridgeCommands } from './program/bridge-commands.js'
import { addCompletionCommands } from './program/completion-commands.js'
import { addConfigCommands } from './program/config-commands.js'
import { addSupportCommands } from './program/support-commands.js'
import { addGatewayCommands } from './program/gateway-commands.js'
import { addPermissionCommands } from './program/permission-commands.js'
import { addRunCommand } from './program/run-command.js'
import { addSecretCommands } from './program/secret-commands.js'
import { addSessionCommands } from './program/session-commands.js'
import { addTokenCommands } from './program/token-commands.js'
import { addWorkspaceCommands } from './program/workspace-commands.js'
import { version } from './version.js'

const EXAMPLES = `
Examples:
  $ agentproto run demo --prompt "hello"          one prompt, no gateway needed
  $ agentproto adapters install opencode          install an agent; no root is needed
  $ agentproto workspace add . --use              name this folder and make it the active one
  $ agentproto sessions start demo --label try    start a session in the active workspace
  $ agentproto sessions --attach try              talk to it; Ctrl-C twice leaves it running
  $ agentproto sessions --watch                   all sessions, live

Environment:
  AGENTPROTO_HOME   where everything is kept (default ~/.agentproto)
  AGENTPROTO_URL, AGENTPROTO_TOKEN   a gateway elsewhere; found in the home otherwise
  AGENTPROTO_TLS_CA, AGENTPROTO_TLS_CERT, AGENTPROTO_TLS_KEY   PEM files for one with TLS: whom to trust, what to show
  AGENTPROTO_NO_START   set: no command starts the gateway, as --no-start does for one
  NO_COLOR          no colours

Exit codes: 0 ok, 1 failed, 2 usage, 3 timeout, 4 no session or empty turn, 5 denied, 130 interrupted`

/** Parses the command line and runs what it names. Never throws: a failure is told on stderr. */
export async function runProgram(io: Io, argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok
  let mayStart = !io.env['AGENTPROTO_NO_START']
  const program = createProgram(io, async (work) => {
    exitCode = await work({ ...io, mayStart })
  })
  program.hook('preAction', (_, command) => {
    if (command.opts()['start'] === false) mayStart = false
  })
  try {
    await program.parseAsync(argv, { from: 'user' })
    return exitCode
  } catch (thrown) {
    // Commander has written its message, or the help that was asked for.
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage
    return tellFailure(io, thrown, wantsJson(argv))
  }
}

/** The whole command line as data; the code of a command is loaded when it runs. */
export function createProgram(io: Io, run: Run): Command {
  const program = new Command('agentproto')
    .description('The control plane for coding-agent CLIs: start, drive and watch many of them.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .addHelpText('after', EXAMPLES)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      outputError: (text, write) => write(`${paintOf(io, io.stderr).red('agentproto:')} ${usageLine(text)}\n`),
    })
  addRunCommand(program, run)
  addSessionCommands(program, run)
  addGatewayCommands(program, run)
  addWorkspaceCommands(program, run)
  addAdapterCommands(program, run)
  addPermissionCommands(program, run)
  addSecretCommands(program, run)
  addBridgeCommands(program, run)
  addTokenCommands(program, run)
  addConfigCommands(program, run)
  addSupportCommands(program, run)
  addCompletionCommands(program, run)
  addExamples(program)
  for (const command of program.commands) if (!ALONE.has(command.name())) addNoStart(command)
  return program
}

/** Commands that work without a gateway, or are about it. */
const ALONE = new Set([
  'run',
  'serve',
  'status',
  'stop',
  'logs',
  'service',
  'workspace',
  'manifest',
  'secrets',
  'config',
  'doctor',
  'support-bundle',
  'completion',
  'complete',
])

/** Every command that needs a gateway starts it, unless it is told not to. */
function addNoStart(command: Command): void {
  command.option('--no-start', 'fail where no gateway runs, instead of starting it')
  command.commands.forEach(addNoStart)
}

/** Commander's message on one line, with what to do next. */
function usageLine(text: string): string {
  const message = text
    .replace(/^error: /, '')
    .replace(/\s+/g, ' ')
    .trim()
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?)]$/.test(message) ? '' : '.'} Try: --help.`
}

/** Read from the bare arguments, because a failure may come before they are parsed. */
const wantsJson = (argv: readonly string[]): boolean =>
  argv.some(
    (arg, index) =>
      arg === '--json' ||
      (/^(--output=)?jsonl?$/.test(arg) && (arg.startsWith('--') || argv[index - 1] === '--output')),
  )

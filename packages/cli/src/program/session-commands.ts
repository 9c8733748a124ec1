import { Option, type Command } from 'commander'
import type { AnswerOptions } from '../commands/sessions-answer.js'
import type { ConfigureOptions } from '../commands/sessions-config.js'
import type { KillOptions, ResumeOptions } from '../commands/sessions-control.js'
import type { EventsOptions } from '../commands/sessions-events.js'
import type { ForkOptions } from '../commands/sessions-fork.js'
import type { SessionLogsOptions } from '../commands/sessions-logs.js'
import type { SessionsOptions } from '../commands/sessions-options.js'
import type { PromptOptions } from '../commands/sessions-prompt.js'
import type { StartOptions } from '../commands/sessions-start.js'
import type { WaitOptions } from '../commands/sessions-wait.js'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { addArchiveCommands } from './archive-commands.js'
import {
  adapterOption,
  continuationOption,
  instructionsOption,
  permissionsOption,
  rememberOption,
  sortOption,
  toCount,
  toSeconds,
  whenBusyOption,
} from './option-values.js'

const HELP = `
Examples:
  $ agentproto sessions --watch
  $ agentproto sessions --sort state
  $ agentproto sessions start demo --label try --attach
  $ agentproto sessions prompt try "read README.md" --wait
  $ agentproto sessions answer try --allow
  $ agentproto sessions events try -f

In --watch, s sorts by the next column, r reverses, q ends the view.
A session is named by its id, by the first characters of it, or by its label.`

export function addSessionCommands(program: Command, run: Run): void {
  const sessions = program
    .command('sessions')
    .description('list, watch, attach to and drive sessions')
    .enablePositionalOptions()
    .option('-w, --watch', 'redraw as things change')
    .option('-a, --attach <id>', 'talk to a session')
    .addOption(sortOption())
    .option('--alive', 'only those whose agent runs')
    .option('--tree', 'each below the one whose agent started it')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action((options: SessionsOptions) => run(async (io) => (await listing()).showSessions(io, options)))
  addStart(sessions, run)
  addPrompt(sessions, run)
  addWait(sessions, run)
  addControls(sessions, run)
  addShow(sessions, run)
  addConfigure(sessions, run)
  addAnswer(sessions, run)
  addEvents(sessions, run)
  addArchiveCommands(sessions, run)
}

function addStart(sessions: Command, run: Run): void {
  sessions
    .command('start')
    .description('start a session and print its id')
    .argument('<adapter>', 'slug of the adapter; see: agentproto adapters list')
    .option('-p, --prompt <text>', 'a first prompt; - reads it from stdin')
    .option('--cwd <folder>', 'folder to run in')
    .option('--workspace <slug>', 'workspace to run in (default: the active one)')
    .option('--label <text>', 'a name to find it by')
    .option('--mode <id>', "one of the adapter's modes")
    .addOption(instructionsOption())
    .addOption(adapterOption())
    .addOption(permissionsOption())
    .addOption(continuationOption())
    .option('--delegate', 'let its agent start agents of its kind, inside its folder, with what it may do itself')
    .option('-a, --attach', 'attach to it at once')
    .option('--json', 'print the whole session as JSON')
    .action((adapter: string, options: StartOptions) =>
      run(async (io) => (await import('../commands/sessions-start.js')).startSession(io, adapter, options)),
    )
}

function addPrompt(sessions: Command, run: Run): void {
  sessions
    .command('prompt')
    .description('send a prompt')
    .argument('<id>')
    .argument('<text>', 'the prompt, @file in it attaches a file; - reads it from stdin')
    .addOption(whenBusyOption())
    .option('--wait', 'follow the turn to its end and print its text')
    .addOption(
      new Option('--output <mode>', 'what stdout gets with --wait')
        .choices(['text', 'json', 'jsonl', 'quiet'])
        .default('text'),
    )
    .option('--json', 'as JSON')
    .option('--timeout <seconds>', 'with --wait: stop waiting after this long and exit with 3', toSeconds)
    .action((id: string, text: string, options: PromptOptions) =>
      run(async (io) => (await import('../commands/sessions-prompt.js')).promptSession(io, { ref: id, text }, options)),
    )
}

function addWait(sessions: Command, run: Run): void {
  sessions
    .command('wait')
    .description('wait for the end of a turn, and print its text')
    .argument('<id>')
    .option('--turn <number>', 'that turn (default: the last one)', toCount)
    .addOption(
      new Option('--output <mode>', 'what stdout gets').choices(['text', 'json', 'jsonl', 'quiet']).default('text'),
    )
    .option('--json', 'the same as --output json')
    .option('--timeout <seconds>', 'stop waiting after this long and exit with 3; the turn goes on', toSeconds)
    .action((id: string, options: WaitOptions) =>
      run(async (io) => (await import('../commands/sessions-wait.js')).waitForTurn(io, id, options)),
    )
}

function addControls(sessions: Command, run: Run): void {
  sessions
    .command('interrupt')
    .description('stop the running turn; the session lives on')
    .argument('<id>')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      run(async (io) => (await controls()).interruptSession(io, id, options)),
    )
  sessions
    .command('resume')
    .description('start the agent of an ended session again, in its old conversation')
    .argument('<id>')
    .option('--fresh', 'in a new conversation')
    .addOption(continuationOption().conflicts('fresh'))
    .option('--json', 'print the whole session as JSON')
    .action((id: string, options: ResumeOptions) =>
      run(async (io) => (await controls()).resumeSession(io, id, options)),
    )
  sessions
    .command('kill')
    .description('end sessions and every process of theirs')
    .argument('<id...>')
    .addOption(
      new Option('--reason <reason>', 'why, for whoever looks at it later').choices([
        'user_canceled',
        'max_iterations',
        'loop_detected',
        'budget_exceeded',
      ]),
    )
    .option('--json', 'as JSON')
    .action((ids: string[], options: KillOptions) =>
      run(async (io) => (await controls()).killSessions(io, ids, options)),
    )
  sessions
    .command('rm')
    .description('kill where needed, then forget sessions and their logs')
    .argument('<id...>')
    .option('--json', 'as JSON')
    .action((ids: string[], options: JsonOption) =>
      run(async (io) => (await controls()).removeSessions(io, ids, options)),
    )
}

function addShow(sessions: Command, run: Run): void {
  sessions
    .command('show')
    .description('everything that is known of a session')
    .argument('<id>')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      run(async (io) => (await import('../commands/sessions-show.js')).showSession(io, id, options)),
    )
}

/** What is set on the running agent, and another agent that knows the same. */
function addConfigure(sessions: Command, run: Run): void {
  sessions
    .command('config')
    .description('show or set mode, model and options of the running agent, and how its requests are answered')
    .argument('<id>')
    .option('--mode <id>', 'one of its modes')
    .option('--model <id>', 'one of its models')
    .addOption(adapterOption())
    .addOption(permissionsOption())
    .option('--json', 'as JSON')
    .action((id: string, options: ConfigureOptions) =>
      run(async (io) => (await import('../commands/sessions-config.js')).configureSession(io, id, options)),
    )
  sessions
    .command('fork')
    .description('start a new session whose agent knows what was said so far, and print its id')
    .argument('<id>')
    .option('-p, --prompt <text>', 'a first prompt; - reads it from stdin')
    .option('--label <text>', 'a name to find it by')
    .option('--json', 'print the whole session as JSON')
    .action((id: string, options: ForkOptions) =>
      run(async (io) => (await import('../commands/sessions-fork.js')).forkSession(io, id, options)),
    )
}

function addAnswer(sessions: Command, run: Run): void {
  sessions
    .command('answer')
    .description('answer what an agent asks')
    .argument('<id>')
    .argument('[requestId]', 'needed when more than one request waits')
    .addOption(
      new Option('--option <optionId>', 'choose this option of a permission').conflicts(['allow', 'deny', 'content']),
    )
    .addOption(new Option('--allow', 'allow once, or accept a question').conflicts(['deny', 'content']))
    .addOption(new Option('--deny', 'deny once, or decline a question').conflicts('content'))
    .option('--content <json>', 'accept a question with this JSON object')
    .addOption(rememberOption().conflicts('content'))
    .option('--json', 'print the request as it is then, as JSON')
    .action((id: string, requestId: string | undefined, options: AnswerOptions) =>
      run(async (io) =>
        (await import('../commands/sessions-answer.js')).answerSession(io, { ref: id, requestId }, options),
      ),
    )
}

function addEvents(sessions: Command, run: Run): void {
  sessions
    .command('logs')
    .description('print what a session said, line by line')
    .argument('<id>')
    .option('-n, --lines <count>', 'the last so many lines', toCount, 200)
    .option('-f, --follow', 'go on until the session ends')
    .option('--json', 'each line as one line of JSON')
    .action((id: string, options: SessionLogsOptions) =>
      run(async (io) => (await import('../commands/sessions-logs.js')).printSessionLogs(io, id, options)),
    )
  sessions
    .command('events')
    .description('print the log of a session')
    .argument('<id>')
    .option('--after <seq>', 'only events after this number', toCount, 0)
    .option('-f, --follow', 'go on until the session ends')
    .option('--json', 'each event as one line of JSON')
    .action((id: string, options: EventsOptions) =>
      run(async (io) => (await import('../commands/sessions-events.js')).printEvents(io, id, options)),
    )
}

const listing = (): Promise<typeof import('../commands/sessions.js')> => import('../commands/sessions.js')
const controls = (): Promise<typeof import('../commands/sessions-control.js')> =>
  import('../commands/sessions-control.js')

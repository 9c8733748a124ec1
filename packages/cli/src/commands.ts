import type { Command } from 'commander'
import type { CliCommand, CommandFiles } from './cli-command.js'

/** All commands, in the order of the help. */
const COMMANDS: CommandFiles = {
  run: () => import('./commands/run.js'),
  sessions: () => import('./commands/sessions/sessions.js'),
  open: () => import('./commands/open.js'),
  requests: () => import('./commands/requests.js'),
  hosts: () => import('./commands/hosts/hosts.js'),
  usage: () => import('./commands/usage.js'),
  serve: () => import('./commands/serve.js'),
  status: () => import('./commands/status.js'),
  stop: () => import('./commands/stop.js'),
  restart: () => import('./commands/restart.js'),
  logs: () => import('./commands/logs.js'),
  service: () => import('./commands/service.js'),
  workspace: () => import('./commands/workspace.js'),
  adapters: () => import('./commands/adapters/adapters.js'),
  manifest: () => import('./commands/manifest/manifest.js'),
  permissions: () => import('./commands/permissions.js'),
  secrets: () => import('./commands/secrets.js'),
  acp: () => import('./commands/acp.js'),
  mcp: () => import('./commands/mcp.js'),
  remote: () => import('./commands/remote.js'),
  token: () => import('./commands/token.js'),
  config: () => import('./commands/config.js'),
  notify: () => import('./commands/notify.js'),
  doctor: () => import('./commands/doctor.js'),
  'support-bundle': () => import('./commands/support-bundle.js'),
  completion: () => import('./commands/completion.js'),
}

/** The commands that need a gateway. They start one, unless `--no-start` is given. */
const NEEDS_GATEWAY = new Set([
  'sessions',
  'requests',
  'open',
  'hosts',
  'usage',
  'adapters',
  'permissions',
  'acp',
  'mcp',
  'token',
  'notify',
])

/**
 * Adds the commands that the words name, so that a command loads its own code alone. A word that names none adds all
 * of its level, for the help, for suggestions and for completion.
 * @param words The words of the command line; all commands are added without them
 */
export async function addCommands(program: CliCommand, words?: readonly string[]): Promise<void> {
  await addLevel(program, COMMANDS, words)
  for (const command of program.commands) if (NEEDS_GATEWAY.has(command.name())) addNoStart(command)
}

async function addLevel(parent: CliCommand, files: CommandFiles, words?: readonly string[]): Promise<void> {
  const [word = '', ...rest] = words ?? []
  const isNamed = Object.hasOwn(files, word)
  const entries = isNamed ? Object.entries(files).filter(([name]) => name === word) : Object.entries(files)
  const loaded = await Promise.all(entries.map(async ([name, load]) => ({ name, file: await load() })))
  for (const { name, file } of loaded) {
    const command = parent.command(name).allowExcessArguments(false)
    file.define(command)
    const needsChildren = words === undefined || (isNamed && (rest.length > 0 || file.runsAlone !== true))
    if (file.children !== undefined && needsChildren) await addLevel(command, file.children, words && rest)
  }
}

function addNoStart(command: Command): void {
  command.option('--no-start', 'fail when no gateway is running, instead of starting one')
  command.commands.forEach(addNoStart)
}

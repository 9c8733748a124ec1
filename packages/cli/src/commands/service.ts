import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { dirname } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import type { CliCommand, CommandResult } from '../cli-command.js'
import { print, type CliContext } from '../cli-context.js'
import { daemonLog } from '../daemon/daemon-log.js'
import { homeOf } from '../daemon/daemon-record.js'
import { launchdService, systemdService, type Service } from '../service/service-unit.js'

const HELP = `
Examples:
  $ agentproto service install         start it at login, and again when it fails
  $ agentproto service install --print print the unit, and change nothing
  $ agentproto service uninstall

A systemd user unit on Linux, a launchd agent on macOS. It does not need root.`

const MANAGER_NAMES = ['systemd', 'launchd'] as const

interface ServiceOptions {
  readonly print?: boolean
  readonly manager?: (typeof MANAGER_NAMES)[number]
}

export function define(service: CliCommand): void {
  service.description('start the gateway when you log in').addHelpText('after', HELP)
  service
    .subcommand('install', 'write the unit and start it')
    .option('--print', 'print the unit, and change nothing')
    .choice('--manager <name>', 'service manager (default: the one of this system)', MANAGER_NAMES)
    .examples('service install', 'service install --print')
    .run(install)
  service
    .subcommand('uninstall', 'stop it and remove the unit')
    .option('--print', 'print the path of the unit, and change nothing')
    .choice('--manager <name>', 'service manager (default: the one of this system)', MANAGER_NAMES)
    .examples('service uninstall')
    .run(uninstall)
}

async function install(context: CliContext, options: ServiceOptions): Promise<CommandResult | void> {
  const { path, text, start } = serviceOf(context, options)
  if (options.print === true) return { text: text.trimEnd() }
  await mkdir(dirname(path), { recursive: true })
  await mkdir(homeOf(context).logs, { recursive: true, mode: 0o700 })
  await writeFile(path, text)
  print(context.stdout, path)
  runAll(context, start)
}

/** Idempotent. */
async function uninstall(context: CliContext, options: ServiceOptions): Promise<CommandResult> {
  const { path, stop } = serviceOf(context, options)
  if (options.print === true) return { text: path }
  if (!existsSync(path)) return { note: `There is no unit at ${path}.` }
  runAll(context, stop)
  await rm(path, { force: true })
  return { text: path }
}

const MANAGERS: Readonly<Partial<Record<NodeJS.Platform, ServiceOptions['manager']>>> = {
  linux: 'systemd',
  darwin: 'launchd',
}

function serviceOf(context: CliContext, { manager = MANAGERS[platform()] }: ServiceOptions): Service {
  if (manager === undefined) {
    throw new AgentprotoError('not_supported', 'This system has neither systemd nor launchd', {
      given: platform(),
      hint: 'Configure its own scheduler to run: agentproto serve',
    })
  }
  const home = homeOf(context)
  const describe = manager === 'systemd' ? systemdService : launchdService
  return describe({
    node: process.execPath,
    script: process.argv[1] ?? '',
    home: home.root,
    isDefaultHome: !context.env['AGENTPROTO_HOME'],
    path: context.env['PATH'] ?? '',
    userHome: homedir(),
    configHome: context.env['XDG_CONFIG_HOME'] || `${homedir()}/.config`,
    log: daemonLog(home),
  })
}

/** Runs the commands of the service manager. @throws `not_supported` naming the commands to run by hand */
function runAll({ env }: CliContext, commands: readonly (readonly string[])[]): void {
  for (const [program = '', ...args] of commands) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env: { ...env } })
    if (status === 0) continue
    const why = (error?.message ?? stderr).trim().replace(/\s+/g, ' ')
    const rest = commands.map((command) => command.join(' ')).join(' && ')
    throw new AgentprotoError('not_supported', `The unit is written, but ${program} failed: ${why}`, {
      hint: `In a login session with a service manager, run: ${rest}`,
    })
  }
}

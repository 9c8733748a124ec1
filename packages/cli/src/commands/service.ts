import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { homedir, platform } from 'node:os'
import { dirname } from 'node:path'
import { AgentprotoError, EXIT } from '@agentproto/contracts'
import { homeOf } from '../daemon/daemon-record.js'
import { daemonLog } from '../daemon/daemon-log.js'
import { print, type Io } from '../io.js'
import { launchdService, systemdService, type Service, type ServiceFacts } from '../service/service-unit.js'

export interface ServiceOptions {
  readonly print?: boolean
  readonly manager?: 'systemd' | 'launchd'
}

const MANAGERS: Readonly<Partial<Record<NodeJS.Platform, 'systemd' | 'launchd'>>> = {
  linux: 'systemd',
  darwin: 'launchd',
}

/** `agentproto service install`: prints the unit's path, or with `--print` the unit itself. */
export async function installService(io: Io, options: ServiceOptions): Promise<number> {
  const service = serviceOf(io, options)
  if (options.print === true) {
    print(io.stdout, service.text.trimEnd())
    return EXIT.ok
  }
  await mkdir(dirname(service.path), { recursive: true })
  await mkdir(homeOf(io).logs, { recursive: true, mode: 0o700 })
  await writeFile(service.path, service.text)
  print(io.stdout, service.path)
  return perform(io, service.start)
}

/** `agentproto service uninstall`: idempotent. */
export async function uninstallService(io: Io, options: ServiceOptions): Promise<number> {
  const service = serviceOf(io, options)
  if (options.print === true) {
    print(io.stdout, service.path)
    return EXIT.ok
  }
  if (!existsSync(service.path)) {
    print(io.stderr, `There is none at ${service.path}.`)
    return EXIT.ok
  }
  const code = perform(io, service.stop)
  await rm(service.path, { force: true })
  print(io.stdout, service.path)
  return code
}

function serviceOf(io: Io, { manager }: ServiceOptions): Service {
  const chosen = manager ?? MANAGERS[platform()]
  if (chosen === undefined) {
    throw new AgentprotoError('not_supported', 'This system has neither systemd nor launchd', {
      given: platform(),
      hint: 'Let its own scheduler run: agentproto serve',
    })
  }
  const home = homeOf(io)
  const facts: ServiceFacts = {
    node: process.execPath,
    script: process.argv[1] ?? '',
    home: home.root,
    isDefaultHome: !io.env['AGENTPROTO_HOME'],
    path: io.env['PATH'] ?? '',
    userHome: homedir(),
    configHome: io.env['XDG_CONFIG_HOME'] || `${homedir()}/.config`,
    log: daemonLog(home),
  }
  return chosen === 'systemd' ? systemdService(facts) : launchdService(facts)
}

/** Runs the manager's own commands; one that fails is told, as what to run by hand. */
function perform(io: Io, commands: readonly (readonly string[])[]): number {
  for (const [program = '', ...args] of commands) {
    const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', env: { ...io.env } })
    if (status === 0) continue
    const why = (error?.message ?? stderr).trim().replace(/\s+/g, ' ')
    const rest = commands.map((command) => command.join(' ')).join(' && ')
    throw new AgentprotoError('not_supported', `The unit is written, but ${program} refuses: ${why}`, {
      hint: `Where your login's service manager runs, run: ${rest}`,
    })
  }
  return EXIT.ok
}

import { InvalidArgumentError, Option, type Command } from 'commander'
import type { LogsOptions } from '../commands/logs.js'
import type { ServeOptions } from '../commands/serve.js'
import type { ServiceOptions } from '../commands/service.js'
import type { StopOptions } from '../commands/stop.js'
import type { Run } from '../io.js'
import { toCount, toSeconds } from './option-values.js'

const SERVE_HELP = `
Examples:
  $ agentproto serve                   in this terminal, until Ctrl-C
  $ agentproto serve --detach          in the background, until: agentproto stop
  $ agentproto serve --port 0          on a free port; the other commands find it by themselves

Prints its address on stdout once it answers. A home has one gateway; commands that need it start it by themselves.
Without --port it is that of config.json, else 7646, or a free one where that is taken. Its end is the end of every agent.`

const STATUS_HELP = `
Examples:
  $ agentproto status
  $ agentproto status --json

It never starts a gateway: without one the exit code is 1.`

const STOP_HELP = `
Examples:
  $ agentproto stop
  $ agentproto stop --force            at once, where it does not end by itself

Resolves once the gateway and every agent of it are gone. Sessions that can be resumed go on after the next start.`

const LOGS_HELP = `
Examples:
  $ agentproto logs -n 20
  $ agentproto logs -f
  $ agentproto logs --json -n 50

What the gateway in the background said. What a session said is in: agentproto sessions logs <id>`

const SERVICE_HELP = `
Examples:
  $ agentproto service install         start it with your login, and again when it fails
  $ agentproto service install --print show the unit, and touch nothing
  $ agentproto service uninstall

A systemd user unit on Linux, a launchd agent on macOS. No root is needed.`

export function addGatewayCommands(program: Command, run: Run): void {
  addServe(program, run)
  program
    .command('status')
    .description('tell whether a gateway is running, where, and with how many sessions')
    .option('--json', 'as JSON')
    .addHelpText('after', STATUS_HELP)
    .action((options: { json?: boolean }) =>
      run(async (io) => (await import('../commands/status.js')).status(io, options)),
    )
  program
    .command('stop')
    .description('end the gateway of this home, and every agent of it')
    .option('--force', 'end it at once; its agents are ended at the next start')
    .option('--timeout <seconds>', 'how long to wait for it', toSeconds, 60)
    .option('--json', 'as JSON')
    .addHelpText('after', STOP_HELP)
    .action((options: StopOptions) => run(async (io) => (await import('../commands/stop.js')).stop(io, options)))
  program
    .command('logs')
    .description('print what the gateway in the background said')
    .option('-n, --lines <count>', 'the last so many lines', toCount, 200)
    .option('-f, --follow', 'go on as it says more, until Ctrl-C')
    .option('--json', 'its structured log instead, one JSON document a line')
    .addHelpText('after', LOGS_HELP)
    .action((options: LogsOptions) => run(async (io) => (await import('../commands/logs.js')).logs(io, options)))
  addService(program, run)
}

function addServe(program: Command, run: Run): void {
  program
    .command('serve')
    .description('run the gateway of this home')
    .option('-d, --detach', 'in the background')
    .option('--port <port>', 'port to listen on; 0 picks a free one', toPort)
    .option('--host <host>', 'address to listen on (default: that of config.json, else 127.0.0.1)')
    .option('--allow-remote', 'allow a --host that other machines can reach')
    .option('--tls-cert <file>', 'certificate in PEM; with --tls-key it serves https')
    .option('--tls-key <file>', 'its key in PEM')
    .option('--tls-client-ca <file>', 'in PEM: clients must show a certificate that it signed')
    .addHelpText('after', SERVE_HELP)
    .action((options: ServeOptions) => run(async (io) => (await import('../commands/serve.js')).serve(io, options)))
}

function addService(program: Command, run: Run): void {
  const service = program
    .command('service')
    .description('start the gateway with your login')
    .addHelpText('after', SERVICE_HELP)
  const manager = (): Option =>
    new Option('--manager <name>', 'who starts it (default: the one of this system)').choices(['systemd', 'launchd'])
  service
    .command('install')
    .description('write the unit and start it')
    .option('--print', 'print the unit, and touch nothing')
    .addOption(manager())
    .action((options: ServiceOptions) =>
      run(async (io) => (await import('../commands/service.js')).installService(io, options)),
    )
  service
    .command('uninstall')
    .description('stop it and remove the unit')
    .option('--print', 'print where the unit is, and touch nothing')
    .addOption(manager())
    .action((options: ServiceOptions) =>
      run(async (io) => (await import('../commands/service.js')).uninstallService(io, options)),
    )
}

function toPort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}

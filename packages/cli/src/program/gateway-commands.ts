import { InvalidArgumentError, type Command } from 'commander'
import type { Run } from '../io.js'

export interface ServeOptions {
  readonly port: number
  readonly host: string
  readonly allowRemote?: boolean
  readonly tlsCert?: string
  readonly tlsKey?: string
}

const SERVE_HELP = `
Examples:
  $ agentproto serve
  $ agentproto serve --port 0          on a free port; the other commands find it by themselves

Prints its address on stdout once it answers; Ctrl-C ends every agent, then the gateway.`

export function addGatewayCommands(program: Command, run: Run): void {
  program
    .command('serve')
    .description('run the gateway of this home in the foreground')
    .option('--port <port>', 'port to listen on; 0 picks a free one', toPort, 7646)
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--allow-remote', 'allow a --host that other machines can reach')
    .option('--tls-cert <file>', 'certificate in PEM; with --tls-key it serves https')
    .option('--tls-key <file>', 'its key in PEM')
    .addHelpText('after', SERVE_HELP)
    .action((options: ServeOptions) => run(async (io) => (await import('../commands/serve.js')).serve(io, options)))
  program
    .command('status')
    .description('tell whether a gateway is running, where, and with how many sessions')
    .option('--json', 'as JSON')
    .action((options: { json?: boolean }) =>
      run(async (io) => (await import('../commands/status.js')).status(io, options)),
    )
}

function toPort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('A port is a whole number from 0 to 65535.')
}

import { isLive } from '@agentproto/contracts'
import type { Command } from 'commander'
import { print, printJson, type CliContext } from '../cli-context.js'
import type { JsonOption, Run } from '../command-definition.js'
import { connect, findDaemon } from '../daemon/connect.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { age } from '../render/age.js'

const HELP = `
Examples:
  $ agentproto status
  $ agentproto status --json

It never starts a gateway. When none is running, the exit code is 1.`

export function define(command: Command, run: Run): void {
  command
    .description('show whether a gateway is running, where, and its number of sessions')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(run((context, options: JsonOption) => status({ ...context, autoStart: false }, options)))
}

/** @throws `daemon_not_running` when no gateway answers */
async function status(context: CliContext, { json }: JsonOption): Promise<void> {
  const { url } = await findDaemon(context)
  const client = await connect(context)
  const { version } = await client.health()
  const { sessions } = await client.sessions.list({ limit: 1_000 })
  const record = await readDaemon(homeOf(context))
  const own = record?.url === url ? record : undefined
  const live = sessions.filter(isLive).length
  if (json === true) {
    const { pid, startedAt } = own ?? {}
    return printJson(context, { url, version, pid, startedAt, sessions: sessions.length, live })
  }
  const uptime = own === undefined ? '' : `, pid ${own.pid}, up ${age(Date.now() - Date.parse(own.startedAt))}`
  print(context.stdout, [`agentproto ${version} at ${url}${uptime}`, `${live} live of ${sessions.length} sessions`])
}

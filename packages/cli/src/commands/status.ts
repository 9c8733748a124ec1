import type { Client } from '@agentproto/client'
import { isAgentprotoError, isLive } from '@agentproto/contracts'
import type { NotificationState } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { connect, findDaemon } from '../daemon/connect.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { ageSince } from '../render/age.js'
import { notificationLines } from '../render/notification-lines.js'

const HELP = `
Examples:
  $ agentproto status
  $ agentproto status --json

It never starts a gateway. When none is running, the exit code is 1.`

export const define: Define = (command) =>
  command
    .description('show whether a gateway is running, where, and its number of sessions')
    .json()
    .addHelpText('after', HELP)
    .run((context) => status({ ...context, autoStart: false }))

/** @throws `daemon_not_running` when no gateway answers */
async function status(context: CliContext): Promise<CommandResult> {
  const { url } = await findDaemon(context)
  const client = await connect(context)
  const { version } = await client.health()
  const { sessions } = await client.sessions.list({ limit: 1_000 })
  const record = await readDaemon(homeOf(context))
  const own = record?.url === url ? record : undefined
  const notifications = await notificationsOf(client)
  const live = sessions.filter(isLive).length
  const uptime = own === undefined ? '' : `, pid ${own.pid}, up ${ageSince(own.startedAt)}`
  return {
    json: { url, version, pid: own?.pid, startedAt: own?.startedAt, sessions: sessions.length, live, notifications },
    text: [
      `agentproto ${version} at ${url}${uptime}`,
      `${live} live of ${sessions.length} sessions`,
      ...(notifications === undefined ? [] : notificationLines(notifications)),
    ],
  }
}

/** Undefined for a caller who may not see them. */
async function notificationsOf({ notifications }: Client): Promise<NotificationState | undefined> {
  try {
    return await notifications.state()
  } catch (thrown) {
    // A gateway of an older version does not have the route.
    if (isAgentprotoError(thrown) && (thrown.code === 'forbidden' || thrown.code === 'route_not_found'))
      return undefined
    throw thrown
  }
}

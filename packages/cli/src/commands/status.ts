import type { Client } from '@agentproto/client'
import { AgentprotoError, isAgentprotoError, isLive } from '@agentproto/contracts'
import type { NotificationState } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { connect, findDaemon } from '../daemon/connect.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { keeperState, keeperText } from '../daemon/keeper-state.js'
import { ageSince } from '../render/age.js'
import { notificationLines } from '../render/notification-lines.js'

const HELP = `
Examples:
  $ agentproto status
  $ agentproto status --json

It never starts a gateway. When none is running, the exit code is 1.`

export const define: Define = (command) =>
  command
    .description('show whether a gateway is running, where, its number of sessions, and its keeper')
    .json()
    .addHelpText('after', HELP)
    .run((context) => status({ ...context, autoStart: false }))

/** @throws `daemon_not_running` when no gateway answers */
async function status(context: CliContext): Promise<CommandResult> {
  const { url } = await findDaemon(context).catch((thrown: unknown) => withLeftAgents(context, thrown))
  const client = await connect(context)
  const { version } = await client.health()
  const { sessions } = await client.sessions.list({ limit: 1_000 })
  const record = await readDaemon(homeOf(context))
  const own = record?.url === url ? record : undefined
  const notifications = await notificationsOf(client)
  const keeper = own === undefined ? undefined : await keeperState(homeOf(context))
  const live = sessions.filter(isLive).length
  const uptime = own === undefined ? '' : `, pid ${own.pid}, up ${ageSince(own.startedAt)}`
  return {
    json: {
      url,
      version,
      pid: own?.pid,
      startedAt: own?.startedAt,
      sessions: sessions.length,
      live,
      keeper,
      notifications,
    },
    text: [
      `agentproto ${version} at ${url}${uptime}`,
      `${live} live of ${sessions.length} sessions`,
      ...(keeper === undefined ? [] : [`keeper ${keeperText(keeper)}`]),
      ...(notifications === undefined ? [] : notificationLines(notifications)),
    ],
  }
}

/** Adds to the error what a gateway has left to the next one. */
async function withLeftAgents(context: CliContext, thrown: unknown): Promise<never> {
  if (!isAgentprotoError(thrown) || thrown.code !== 'daemon_not_running') throw thrown
  const keeper = await keeperState(homeOf(context)).catch(() => undefined)
  if (keeper === undefined || keeper.agents === 0) throw thrown
  throw new AgentprotoError('daemon_not_running', `${thrown.message}; agents of the last one go on`, {
    given: keeperText(keeper),
    hint: 'Go on with them: agentproto serve --detach. Or end them: agentproto stop',
    data: { keeper },
    cause: thrown,
  })
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

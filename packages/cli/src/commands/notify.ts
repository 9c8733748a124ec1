import type { NotificationState, NotificationTest } from '@agentproto/contracts/wire'
import type { CliCommand, CommandResult } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { notificationLines } from '../render/notification-lines.js'
import { oneLine } from '../render/printable.js'

const HELP = `
Examples:
  $ agentproto config set notify.command '["notify-send", "An agent needs you"]'
  $ agentproto config set notify.webhook.url https://hooks.example/agents
  $ agentproto notify test

The gateway runs the command and sends the webhook when an agent asks, a long turn ends, a session fails or a budget is used up. It
reads its settings when it starts. The secret that signs webhooks is notify-webhook: agentproto secrets set notify-webhook`

export function define(notify: CliCommand): void {
  notify.description('notifications of the gateway: a desktop command, a webhook').addHelpText('after', HELP)
  notify
    .subcommand('test', 'send a test to each target; the exit code is 1 when one fails')
    .json()
    .examples('notify test')
    .run(test)
  notify
    .subcommand('status', 'show what is notified, what waits and what was dropped')
    .json()
    .examples('notify status --json')
    .run(status)
}

async function test(context: CliContext): Promise<CommandResult> {
  const client = await connect(context)
  const report: NotificationTest = await client.notifications.test()
  const text = report.results.map(({ target, to, ok, problem = '' }) =>
    oneLine(`${target} ${to}: ${ok ? 'delivered' : problem}`),
  )
  return { json: report, text, exit: report.results.every(({ ok }) => ok) ? 0 : 1 }
}

async function status(context: CliContext): Promise<CommandResult> {
  const client = await connect(context)
  const state: NotificationState = await client.notifications.state()
  const text =
    state.targets.length === 0
      ? ['Nothing is notified. Set notify.command or notify.webhook.url: agentproto notify --help']
      : [`on ${state.on.join(', ')}`, ...notificationLines(state)]
  return { json: state, text }
}

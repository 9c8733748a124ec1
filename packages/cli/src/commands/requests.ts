import type { Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import type { JsonOption } from '../command-definition.js'
import { isInteractive } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { answerInTerminal } from '../requests/answer-in-terminal.js'
import { followRequests, listRequests } from '../requests/list-requests.js'

const HELP = `
Examples:
  $ agentproto requests
  $ agentproto requests --watch
  $ agentproto requests --json

At a terminal each request is shown whole, the oldest first, and answered by a key: y allows or accepts, n denies or declines, a leads to
rules, Tab shows the next one, q quits. Elsewhere they are printed with the commands that answer them.`

interface RequestsOptions extends JsonOption {
  readonly watch?: boolean
}

export const define: Define = (command) =>
  command
    .alias('inbox')
    .description('show and answer what agents of all sessions ask, oldest first')
    .option('-w, --watch', 'stay, and show what is asked from now on')
    .json('as JSON; with --watch one document per line')
    .addHelpText('after', HELP)
    .run(async (context: CliContext, { watch = false, json = false }: RequestsOptions) => {
      if (isInteractive(context) && !json) return answerInTerminal(context, { isStaying: watch })
      const client = await connect(context, watch ? { reconnectMs: Number.MAX_SAFE_INTEGER } : {})
      return watch ? followRequests(context, client, json) : listRequests(client)
    })

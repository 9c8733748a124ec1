import type { Command } from 'commander'
import { print, printJson, type CliContext } from '../../cli-context.js'
import { examples, type JsonOption, type Run } from '../../command-definition.js'
import { withProgress } from '../../progress.js'
import { openSession } from '../../session-ref.js'

export function define(command: Command, run: Run): void {
  command
    .description('interrupt the running turn; the session keeps running')
    .argument('<id>')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('sessions interrupt try'))
    .action(run(interrupt))
}

async function interrupt(context: CliContext, ref: string, { json }: JsonOption): Promise<void> {
  const { client, session } = await openSession(context, ref)
  const { wasBusy } = await withProgress(context, 'Interrupting', () => client.sessions.interrupt(session.id))
  if (json === true) printJson(context, { id: session.id, wasBusy })
  else print(context.stderr, wasBusy ? 'The turn was interrupted.' : 'No turn was running.')
}

import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { withProgress } from '../../progress.js'
import { openSession } from '../../session-ref.js'

export const define: Define = (command) =>
  command
    .description('interrupt the running turn; the session keeps running')
    .argument('<id>')
    .json()
    .examples('sessions interrupt try')
    .run(interrupt)

async function interrupt(context: CliContext, ref: string): Promise<CommandResult> {
  const { client, session } = await openSession(context, ref)
  const { wasBusy } = await withProgress(context, 'Interrupting', () => client.sessions.interrupt(session.id))
  return { json: { id: session.id, wasBusy }, note: wasBusy ? 'The turn was interrupted.' : 'No turn was running.' }
}

import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { withProgress } from '../../progress.js'
import { openSession } from '../../session-ref.js'

interface DiscardOptions {
  readonly force?: boolean
}

export const define: Define = (command) =>
  command
    .description('delete the worktree of an ended session, and its branch if it was created for it')
    .argument('<id>')
    .option('--force', 'also when work would be lost')
    .json()
    .examples('sessions discard try', 'sessions discard try --force')
    .run(discard)

async function discard(context: CliContext, ref: string, { force = false }: DiscardOptions): Promise<CommandResult> {
  const { client, session } = await openSession(context, ref)
  const discarded = await withProgress(context, 'Deleting', () => client.sessions.discard(session.id, { force }))
  return { json: discarded, text: session.id }
}

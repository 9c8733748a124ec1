import { defined } from '@agentproto/contracts'
import { MERGE_STRATEGIES, type MergeStrategy } from '@agentproto/contracts/agent'
import type { CommandResult, Define } from '../../cli-command.js'
import { print, type CliContext } from '../../cli-context.js'
import { withProgress } from '../../progress.js'
import { openSession } from '../../session-ref.js'

interface MergeOptions {
  readonly strategy?: MergeStrategy
  readonly message?: string
  readonly force?: boolean
}

export const define: Define = (command) =>
  command
    .description('merge the branch of a session’s worktree into its base, and print the commit')
    .argument('<id>')
    .choice('--strategy <name>', 'how (default: merge)', MERGE_STRATEGIES)
    .option('-m, --message <text>', 'message of the commits that are made')
    .option('--force', 'also while another session works in the checkout that is updated')
    .json()
    .examples('sessions merge try', 'sessions merge try --strategy squash -m "Fix the cart"')
    .run(merge)

async function merge(context: CliContext, ref: string, options: MergeOptions): Promise<CommandResult> {
  const { client, session } = await openSession(context, ref)
  const { strategy, message, force } = options
  const request = defined({ strategy, message, force })
  const merged = await withProgress(context, 'Merging', () => client.sessions.merge(session.id, request))
  const { commits, into, commit } = merged
  print(
    context.stderr,
    commits === 0 ? `${into} has it all.` : `${into} has ${commits} more commit${commits === 1 ? '' : 's'}.`,
  )
  return { json: merged, text: commit }
}

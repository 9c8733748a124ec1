import { defined } from '@agentproto/contracts'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { toCount } from '../../command-definition.js'
import { openSession } from '../../session-ref.js'

export const define: Define = (command) =>
  command
    .description('remember that you have reviewed the files, for diff --since-review')
    .argument('<id>')
    .option('--turn <number>', 'as they were at the end of this turn (default: as they are now)', toCount)
    .json('print the review as JSON')
    .examples('sessions review try', 'sessions review try --turn 2')
    .run(review)

async function review(context: CliContext, ref: string, { turn }: { readonly turn?: number }): Promise<CommandResult> {
  const { client, session } = await openSession(context, ref)
  const reviewed = await client.changes.markReviewed(session.id, defined({ turn }))
  const what = turn === undefined ? 'the files as they are now' : `the files of turn ${turn}`
  return { json: reviewed, note: `Reviewed: ${what}.` }
}

import type { CommandResult, Define } from '../../cli-command.js'
import { print, warn, type CliContext } from '../../cli-context.js'
import { connect } from '../../daemon/connect.js'
import { toMilliseconds } from '../../duration-option.js'
import { keptWorktree } from '../../render/kept-worktree.js'
import { silentNote } from '../../render/silent-hosts.js'

interface PruneOptions {
  /** Milliseconds. */
  readonly olderThan: number
  readonly dryRun?: boolean
}

export const define: Define = (command) =>
  command
    .description('remove sessions that ended long ago, with their logs, and print the id of each')
    .requiredOption('--older-than <time>', 'such as 30d, 12h or 90m', toMilliseconds)
    .option('--dry-run', 'only print which')
    .json()
    .examples('sessions prune --older-than 30d --dry-run', 'sessions prune --older-than 12h')
    .run(prune)

async function prune(context: CliContext, { olderThan, dryRun = false }: PruneOptions): Promise<CommandResult> {
  const client = await connect(context)
  const result = await client.archive.prune({ olderThanMs: olderThan, dryRun })
  const { pruned } = result
  const sessions = `${pruned.length} session${pruned.length === 1 ? '' : 's'}`
  print(context.stderr, dryRun ? `${sessions} would be removed.` : `${sessions} removed.`)
  for (const each of pruned) if (each.keptWorktree !== undefined) warn(context, keptWorktree(each.keptWorktree))
  const note = silentNote(result.unanswered)
  return { json: result, note, text: pruned.length === 0 ? undefined : pruned.map(({ id }) => id) }
}

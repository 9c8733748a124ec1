import { InvalidArgumentError } from 'commander'
import type { CommandResult, Define } from '../../cli-command.js'
import { print, type CliContext } from '../../cli-context.js'
import { connect } from '../../daemon/connect.js'

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
  return { json: result, text: pruned.length === 0 ? undefined : pruned.map(({ id }) => id) }
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A bare number is refused: it could mean days or seconds. */
function toMilliseconds(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) throw new InvalidArgumentError('Write it as 30d, 12h or 90m.')
  return Number(count) * (UNITS[unit] ?? 0)
}

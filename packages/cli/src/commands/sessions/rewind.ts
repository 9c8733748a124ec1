import { AgentprotoError, defined } from '@agentproto/contracts'
import type { RewoundFiles } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../../cli-command.js'
import { paintFor, warn, type CliContext } from '../../cli-context.js'
import { toCount } from '../../command-definition.js'
import { statusLine } from '../../render/change-stat.js'
import { oneLine } from '../../render/printable.js'
import { openSession } from '../../session-ref.js'

interface RewindOptions {
  readonly turn?: number
  readonly checkpoint?: string
  readonly dryRun?: boolean
  readonly force?: boolean
}

export const define: Define = (command) =>
  command
    .description('set the files of a session back to those of a turn; the files of now are recorded before')
    .argument('<id>')
    .argument('[path...]', 'only these files and folders, relative to the folder of the session')
    .option('--turn <number>', 'the files at the end of this turn; 0 for the start of the session', toCount)
    .option('--checkpoint <id>', 'the files of this checkpoint, such as to undo a rewind')
    .option('--dry-run', 'only print what would be changed')
    .option('--force', 'even if another session runs in the folder')
    .json()
    .examples('sessions rewind try --turn 1 --dry-run', 'sessions rewind try --turn 1 src')
    .run(rewind)

async function rewind(
  context: CliContext,
  ...[ref, paths, options]: [string, readonly string[], RewindOptions]
): Promise<CommandResult> {
  const { dryRun, force } = options
  const target = targetOf(options)
  const { client, session } = await openSession(context, ref)
  const how = defined({ dryRun, force, paths: paths.length === 0 ? undefined : [...paths] })
  const done = await client.changes.rewind(session.id, { ...target, ...how })
  for (const { path, reason, detail } of done.kept)
    warn(context, `left as it is: ${oneLine(path)} (${reason}${detail === undefined ? '' : `: ${oneLine(detail)}`})`)
  const paint = paintFor(context, context.stdout)
  return { json: done, text: done.changed.map((change) => statusLine(change, paint)), note: noteOf(session.id, done) }
}

function targetOf({ turn, checkpoint }: RewindOptions): { readonly turn: number } | { readonly checkpoint: string } {
  if (turn !== undefined && checkpoint === undefined) return { turn }
  if (checkpoint !== undefined && turn === undefined) return { checkpoint }
  throw new AgentprotoError('invalid_request', 'A rewind needs to know where to', {
    expected: 'either --turn or --checkpoint',
  })
}

function noteOf(id: string, { dryRun, changedCount, before }: RewoundFiles): string {
  const files = `${changedCount} file${changedCount === 1 ? '' : 's'}`
  if (dryRun) return `${files} would be changed.`
  return `${files} changed.${before === undefined ? '' : ` Undo it with: agentproto sessions rewind ${id} --checkpoint ${before}`}`
}

import { EXIT } from '@agentproto/contracts'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { openSession } from '../../session-ref.js'

export const define: Define = (command) =>
  command
    .description('check an ended session against its log, and repair it by appending')
    .argument('<id>')
    .option('--dry-run', 'only report what is wrong')
    .json()
    .examples('sessions repair try --dry-run', 'sessions repair try')
    .run(repair)

/** Exit code 1 when a problem remains. */
async function repair(
  context: CliContext,
  ref: string,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<CommandResult> {
  const { client, session } = await openSession(context, ref)
  const report = await client.archive.repair(session.id, { dryRun })
  const { findings } = report
  const lines = findings.map(({ kind, detail, mended }) => `${mended ? 'repaired' : 'found   '}  ${kind}: ${detail}`)
  const exit = findings.every(({ mended }) => mended) ? EXIT.ok : EXIT.failed
  return { json: report, text: lines.length === 0 ? `${session.id} has no problems.` : lines, exit }
}

import { EXIT } from '@agentproto/contracts'
import type { Command } from 'commander'
import { print, printJson, type CliContext } from '../../cli-context.js'
import { examples, type JsonOption, type Run } from '../../command-definition.js'
import { openSession } from '../../session-ref.js'

interface RepairOptions extends JsonOption {
  readonly dryRun?: boolean
}

export function define(command: Command, run: Run): void {
  command
    .description('check an ended session against its log, and repair it by appending')
    .argument('<id>')
    .option('--dry-run', 'only report what is wrong')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('sessions repair try --dry-run', 'sessions repair try'))
    .action(run(repair))
}

/** Exit code 1 when a problem remains. */
async function repair(context: CliContext, ref: string, { dryRun = false, json }: RepairOptions): Promise<number> {
  const { client, session } = await openSession(context, ref)
  const report = await client.archive.repair(session.id, { dryRun })
  const { findings } = report
  if (json === true) printJson(context, report)
  else if (findings.length === 0) print(context.stdout, `${session.id} has no problems.`)
  for (const { kind, detail, mended } of json === true ? [] : findings)
    print(context.stdout, `${mended ? 'repaired' : 'found   '}  ${kind}: ${detail}`)
  return findings.every(({ mended }) => mended) ? EXIT.ok : EXIT.failed
}

import { EXIT } from '@agentproto/contracts'
import type { Command } from 'commander'
import { paintFor, print, printJson, type CliContext } from '../cli-context.js'
import type { JsonOption, Run } from '../command-definition.js'
import { withProgress } from '../progress.js'
import { checkLines, checksSummary } from '../render/checks.js'

const HELP = `
Examples:
  $ agentproto doctor
  $ agentproto doctor --json

It changes nothing. To check one agent: agentproto adapters doctor <slug>`

export function define(command: Command, run: Run): void {
  command
    .description('check this machine, the home, the gateway and the agents')
    .option('--json', 'as JSON')
    .addHelpText('after', HELP)
    .action(run(doctor))
}

/** Exit code 1 when a check fails. Warnings pass. */
async function doctor(context: CliContext, { json }: JsonOption): Promise<number> {
  const { runChecks } = await import('../doctor/checks.js')
  const checks = await withProgress(context, 'Checking', () => runChecks(context))
  const ok = checks.every(({ verdict }) => verdict !== 'fail')
  const paint = paintFor(context, context.stdout)
  if (json === true) printJson(context, { ok, checks })
  else print(context.stdout, [...checks.flatMap((check) => checkLines(check, paint)), checksSummary(checks, paint)])
  return ok ? EXIT.ok : EXIT.failed
}

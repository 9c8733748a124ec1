import { EXIT } from '@agentproto/contracts'
import type { CommandResult, Define } from '../cli-command.js'
import { paintFor, type CliContext } from '../cli-context.js'
import { withProgress } from '../progress.js'
import { checkLines, checksSummary } from '../render/checks.js'

const HELP = `
Examples:
  $ agentproto doctor
  $ agentproto doctor --json

It changes nothing. To check one agent: agentproto adapters doctor <slug>`

export const define: Define = (command) =>
  command
    .description('check this machine, the home, the gateway and the agents')
    .json()
    .addHelpText('after', HELP)
    .run(doctor)

/** Exit code 1 when a check fails. Warnings pass. */
async function doctor(context: CliContext): Promise<CommandResult> {
  const { runChecks } = await import('../doctor/checks.js')
  const checks = await withProgress(context, 'Checking', () => runChecks(context))
  const ok = checks.every(({ verdict }) => verdict !== 'fail')
  const paint = paintFor(context, context.stdout)
  const text = [...checks.flatMap((check) => checkLines(check, paint)), checksSummary(checks, paint)]
  return { json: { ok, checks }, text, exit: ok ? EXIT.ok : EXIT.failed }
}

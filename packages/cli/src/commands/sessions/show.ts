import type { Command } from 'commander'
import { paintFor, print, printJson, type CliContext } from '../../cli-context.js'
import { examples, type JsonOption, type Run } from '../../command-definition.js'
import { renderSession, SHOWN_TURNS } from '../../render/session-details.js'
import { openSession } from '../../session-ref.js'

export function define(command: Command, run: Run): void {
  command
    .description('show all details of a session')
    .argument('<id>')
    .option('--json', 'as JSON')
    .addHelpText('after', examples('sessions show try', 'sessions show try --json'))
    .action(run(show))
}

async function show(context: CliContext, ref: string, { json }: JsonOption): Promise<void> {
  const opened = await openSession(context, ref)
  const { sessions } = opened.client
  const session = await sessions.get(opened.session.id)
  if (json === true) return printJson(context, session)
  const { id, turnCount } = session
  const [requests, turns] = await Promise.all([
    sessions.requests(id),
    sessions.turns(id, { after: Math.max(0, turnCount - SHOWN_TURNS) }),
  ])
  const pending = requests.filter(({ state }) => state === 'pending')
  const frame = { now: Date.now(), paint: paintFor(context, context.stdout) }
  print(context.stdout, renderSession({ session, pending, turns }, frame))
}

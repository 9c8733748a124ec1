import type { CommandResult, Define } from '../../cli-command.js'
import { paintFor, widthOf, type CliContext } from '../../cli-context.js'
import type { JsonOption } from '../../command-definition.js'
import { renderSession, SHOWN_TURNS } from '../../render/session-details.js'
import { openSession } from '../../session-ref.js'

export const define: Define = (command) =>
  command
    .description('show all details of a session')
    .argument('<id>')
    .json()
    .examples('sessions show try', 'sessions show try --json')
    .run(show)

async function show(context: CliContext, ref: string, { json }: JsonOption): Promise<CommandResult> {
  const opened = await openSession(context, ref)
  const { sessions } = opened.client
  const session = await sessions.get(opened.session.id)
  if (json === true) return { json: session }
  const { id, turnCount } = session
  const [requests, turns] = await Promise.all([
    sessions.requests(id),
    sessions.turns(id, { after: Math.max(0, turnCount - SHOWN_TURNS) }),
  ])
  const pending = requests.filter(({ state }) => state === 'pending')
  const frame = { now: Date.now(), paint: paintFor(context, context.stdout), width: widthOf(context.stdout) }
  return { json: session, text: renderSession({ session, pending, turns }, frame) }
}

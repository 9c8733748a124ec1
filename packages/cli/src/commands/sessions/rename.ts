import { AgentprotoError, defined } from '@agentproto/contracts'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { openSession } from '../../session-ref.js'

interface RenameOptions {
  readonly title?: string
  readonly label?: string
}

export const define: Define = (command) =>
  command
    .description('give a session another title or label, and print its id')
    .argument('<id>')
    .option('--title <text>', 'the title; an empty one leaves it to the agent')
    .option('--label <text>', 'a name for commands, which no other live session has; an empty one removes it')
    .json('print the session as JSON')
    .examples('sessions rename try --label shop', 'sessions rename shop --title "Fix the checkout" --label ""')
    .run(rename)

async function rename(context: CliContext, ref: string, { title, label }: RenameOptions): Promise<CommandResult> {
  if (title === undefined && label === undefined)
    throw new AgentprotoError('invalid_request', 'Nothing to rename', { expected: '--title or --label' })
  const { client, session } = await openSession(context, ref)
  const renamed = await client.sessions.rename(session.id, defined({ title: nameOf(title), label: nameOf(label) }))
  return { json: renamed, text: renamed.id }
}

/** An empty name removes it. */
const nameOf = (given: string | undefined): string | null | undefined => (given === '' ? null : given)

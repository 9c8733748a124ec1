import { defined, type Session } from '@agentproto/contracts'
import type { ContinuationStrategy } from '@agentproto/contracts/agent'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { addBudgetOptions, type BudgetOptions, budgetOf } from '../../budget-options.js'
import { continuationOption } from '../../command-definition.js'
import { resumeSteps, withNextStep } from '../../next-steps.js'
import { withProgress } from '../../progress.js'
import { openSession } from '../../session-ref.js'

interface ResumeOptions extends BudgetOptions {
  readonly fresh?: boolean
  readonly continuation?: ContinuationStrategy
}

export const define: Define = (command) =>
  addBudgetOptions(
    command
      .description('start the agent of an ended session again, in the same conversation, and print the id')
      .argument('<id>')
      .option('--fresh', 'start a new conversation')
      .addOption(continuationOption().conflicts('fresh')),
  )
    .json('print the session as JSON')
    .examples(
      'sessions resume try',
      'sessions resume try --fresh',
      'sessions resume try --continuation transcript',
      'sessions resume try --budget-turns 40',
    )
    .run(resume)

async function resume(context: CliContext, ref: string, options: ResumeOptions): Promise<CommandResult> {
  const { fresh, continuation } = options
  const { client, session } = await openSession(context, ref)
  const resumed = await withNextStep(resumeSteps({ ref, session, read: () => client.sessions.get(session.id) }), () =>
    withProgress(context, 'Resuming', () =>
      client.sessions.resume(session.id, { ...defined({ fresh, continuation }), ...budgetOf(options) }),
    ),
  )
  return { json: resumed, text: resumed.id, note: `The agent runs in ${conversationOf(resumed)}.` }
}

function conversationOf({ resumedHow }: Session): string {
  if (resumedHow === 'fresh') return 'a new conversation'
  return resumedHow === 'transcript'
    ? 'a new conversation, and gets the transcript of the old one with the next prompt'
    : 'its old conversation'
}

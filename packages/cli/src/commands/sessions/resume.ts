import { defined, type Session } from '@agentproto/contracts'
import type { ContinuationStrategy } from '@agentproto/contracts/agent'
import type { Command } from 'commander'
import { print, printJson, type CliContext } from '../../cli-context.js'
import { continuationOption, examples, type JsonOption, type Run } from '../../command-definition.js'
import { resumeSteps, withNextStep } from '../../next-steps.js'
import { withProgress } from '../../progress.js'
import { openSession } from '../../session-ref.js'

interface ResumeOptions extends JsonOption {
  readonly fresh?: boolean
  readonly continuation?: ContinuationStrategy
}

export function define(command: Command, run: Run): void {
  command
    .description('start the agent of an ended session again, in the same conversation, and print the id')
    .argument('<id>')
    .option('--fresh', 'start a new conversation')
    .addOption(continuationOption().conflicts('fresh'))
    .option('--json', 'print the session as JSON')
    .addHelpText(
      'after',
      examples('sessions resume try', 'sessions resume try --fresh', 'sessions resume try --continuation transcript'),
    )
    .action(run(resume))
}

async function resume(context: CliContext, ref: string, { json, fresh, continuation }: ResumeOptions): Promise<void> {
  const { client, session } = await openSession(context, ref)
  const resumed = await withNextStep(resumeSteps(ref), () =>
    withProgress(context, 'Resuming', () => client.sessions.resume(session.id, defined({ fresh, continuation }))),
  )
  if (json === true) return printJson(context, resumed)
  print(context.stdout, resumed.id)
  print(context.stderr, `The agent runs in ${conversationOf(resumed)}.`)
}

function conversationOf({ resumedHow }: Session): string {
  if (resumedHow === 'fresh') return 'a new conversation'
  return resumedHow === 'transcript'
    ? 'a new conversation, and gets the transcript of the old one with the next prompt'
    : 'its old conversation'
}

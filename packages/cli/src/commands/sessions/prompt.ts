import { defined } from '@agentproto/contracts'
import { Option } from 'commander'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { type JsonOption, type OutputMode, outputOption, toSeconds, type WhenBusy } from '../../command-definition.js'
import { promptSteps, withNextStep } from '../../next-steps.js'
import { readPrompt } from '../../prompt/prompt-text.js'
import { openSession } from '../../session-ref.js'
import { driveTurn } from '../../turn/drive-turn.js'
import { answererFor, watchingAnswerer } from '../../turn/request-answerer.js'
import { TurnLimits } from '../../turn/turn-limits.js'

interface PromptOptions extends JsonOption {
  readonly whenBusy?: WhenBusy
  readonly wait?: boolean
  readonly output: OutputMode
  readonly timeout?: number
  readonly denyRequests?: boolean
}

export const define: Define = (command) =>
  command
    .description('send a prompt, and print the number of its turn')
    .argument('<id>')
    .argument('<text>', 'the prompt; @file attaches a file; - reads it from stdin')
    .addOption(
      new Option('--when-busy <what>', 'while a turn runs: reject the prompt, queue it, or interrupt the turn')
        .choices(['reject', 'queue', 'interrupt'])
        .default('reject'),
    )
    .option('--wait', 'wait for the end of the turn and print the answer')
    .addOption(outputOption('format of stdout with --wait'))
    .json()
    .option(
      '--deny-requests',
      'with --wait, without a terminal: deny at once what the agent asks (default: leave it to others)',
    )
    .option('--timeout <seconds>', 'with --wait: interrupt after this time and exit with 3', toSeconds)
    .examples(
      'sessions prompt try "read README.md" --wait',
      'sessions prompt try "explain @src/cart.ts" --wait',
      'git diff | agentproto sessions prompt try - --when-busy queue',
    )
    .run(prompt)

async function prompt(
  context: CliContext,
  ...[ref, text, { wait, json, output, timeout, whenBusy, denyRequests }]: [string, string, PromptOptions]
): Promise<CommandResult | void> {
  const content = await readPrompt(context, text, `agentproto sessions prompt ${ref} "hello"`)
  const { client, session } = await openSession(context, ref)
  const steps = promptSteps({ ref, session, read: () => client.sessions.get(session.id) })
  if (wait === true) {
    const limits = new TurnLimits(timeout)
    const mode = json === true ? 'json' : output
    const detailsCommand = `agentproto sessions events ${session.id}`
    const allowCommand = `agentproto sessions config ${session.id} --permissions approve-reads`
    const answer =
      denyRequests === true ? answererFor(context) : watchingAnswerer(context, `agentproto sessions show ${session.id}`)
    const turn = { prompt: content, whenBusy, output: mode, limits, answer, detailsCommand, allowCommand }
    const request = { client, session, ...turn }
    return withNextStep(steps, () => driveTurn(context, request)).finally(() => limits.release())
  }
  const accepted = await withNextStep(steps, () =>
    client.sessions.prompt(session.id, { prompt: content, ...defined({ whenBusy }) }),
  )
  return { json: accepted, text: String(accepted.turn) }
}

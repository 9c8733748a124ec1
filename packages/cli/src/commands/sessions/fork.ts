import { defined } from '@agentproto/contracts'
import type { Command } from 'commander'
import { print, printJson, type CliContext } from '../../cli-context.js'
import { examples, type JsonOption, type Run } from '../../command-definition.js'
import { withProgress } from '../../progress.js'
import { readPrompt } from '../../prompt/prompt-text.js'
import { openSession } from '../../session-ref.js'

interface ForkOptions extends JsonOption {
  readonly prompt?: string
  readonly label?: string
}

export function define(command: Command, run: Run): void {
  command
    .description('start a new session whose agent knows the conversation so far, and print its id')
    .argument('<id>')
    .option('-p, --prompt <text>', 'first prompt; - reads it from stdin')
    .option('--label <text>', 'a name for the new session')
    .option('--json', 'print the session as JSON')
    .addHelpText('after', examples('sessions fork try --label other', 'sessions fork try -p "and now in Rust"'))
    .action(run(fork))
}

async function fork(context: CliContext, ref: string, { prompt, label, json }: ForkOptions): Promise<void> {
  const first = prompt === undefined ? undefined : await readPrompt(context, prompt)
  const { client, session } = await openSession(context, ref)
  const request = defined({ prompt: first, label })
  const forked = await withProgress(context, 'Forking', () => client.sessions.fork(session.id, request))
  if (json === true) printJson(context, forked)
  else print(context.stdout, forked.id)
}

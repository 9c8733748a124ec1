import { defined } from '@agentproto/contracts'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { withProgress } from '../../progress.js'
import { toCount } from '../../command-definition.js'
import { readPrompt } from '../../prompt/prompt-text.js'
import { openSession } from '../../session-ref.js'

interface ForkOptions {
  readonly prompt?: string
  readonly label?: string
  readonly worktree?: string | true
  readonly turn?: number
}

export const define: Define = (command) =>
  command
    .description('start a new session whose agent knows the conversation so far, and print its id')
    .argument('<id>')
    .option('-p, --prompt <text>', 'first prompt; - reads it from stdin')
    .option('--label <text>', 'a name for the new session')
    .option('--worktree [branch]', 'run in a git worktree of its own, on a new branch or on this one')
    .option('--turn <number>', 'with --worktree: start with the files as they were after this turn', toCount)
    .json('print the session as JSON')
    .examples('sessions fork try --label other', 'sessions fork try -p "and now in Rust"')
    .run(fork)

async function fork(
  context: CliContext,
  ref: string,
  { prompt, label, worktree: asked, turn }: ForkOptions,
): Promise<CommandResult> {
  const first =
    prompt === undefined
      ? undefined
      : await readPrompt(context, prompt, `agentproto sessions fork ${ref} --prompt "hello"`)
  const { client, session } = await openSession(context, ref)
  const worktree = typeof asked === 'string' ? { branch: asked } : asked
  const request = defined({ prompt: first, label, worktree, turn })
  const forked = await withProgress(context, 'Forking', () => client.sessions.fork(session.id, request))
  return { json: forked, text: forked.id }
}

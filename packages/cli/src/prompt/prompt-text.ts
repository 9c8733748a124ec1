import { text } from 'node:stream/consumers'
import { AgentprotoError } from '@agentproto/contracts'
import type { PromptRequest } from '@agentproto/contracts/wire'
import type { CliContext } from '../cli-context.js'
import { withAttachments } from './prompt-attachments.js'

/**
 * The prompt as given, with the files that `@file` names, or all of stdin for `-`, unchanged.
 * @throws `invalid_request` for an empty one
 */
export async function readPrompt(context: CliContext, given: string | undefined): Promise<PromptRequest['prompt']> {
  const typed = given === '-' ? (await text(context.stdin)).trimEnd() : given
  if (typed === undefined || typed.trim() === '') {
    throw new AgentprotoError('invalid_request', given === '-' ? 'stdin holds no prompt' : 'There is no prompt', {
      hint: 'Give one with --prompt "…", or pipe it in and write -',
    })
  }
  // An @ in piped text is not a mention.
  return given === '-' ? typed : withAttachments(context, typed)
}

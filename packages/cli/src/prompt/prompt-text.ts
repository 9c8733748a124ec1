import { text } from 'node:stream/consumers'
import { AgentprotoError, type PromptRequest } from '@agentproto/contracts'
import type { Io } from '../io.js'
import { withAttachments } from './prompt-attachments.js'

/**
 * The prompt as given, with the files that its words `@file` name, or all of stdin for `-`, as it is.
 * @throws `invalid_request` for an empty one
 */
export async function promptOf(io: Io, given: string | undefined): Promise<PromptRequest['prompt']> {
  const typed = given === '-' ? (await text(io.stdin)).trimEnd() : given
  if (typed === undefined || typed.trim() === '') {
    throw new AgentprotoError('invalid_request', given === '-' ? 'stdin holds no prompt' : 'There is no prompt', {
      hint: 'Give one with --prompt "…", or pipe it in and give -',
    })
  }
  // What is piped in is somebody's text, whose @ are its own.
  return given === '-' ? typed : withAttachments(io, typed)
}

import { text } from 'node:stream/consumers'
import { AgentprotoError } from '@agentproto/contracts'
import type { Io } from './io.js'

/** The prompt as given, or all of stdin for `-`. @throws `invalid_request` for an empty one */
export async function promptText(io: Io, given: string | undefined): Promise<string> {
  const prompt = given === '-' ? (await text(io.stdin)).trimEnd() : given
  if (prompt !== undefined && prompt.trim() !== '') return prompt
  throw new AgentprotoError('invalid_request', given === '-' ? 'stdin holds no prompt' : 'There is no prompt', {
    hint: 'Give one with --prompt "…", or pipe it in and give -',
  })
}

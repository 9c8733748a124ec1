import type { ContentBlock } from '@agentproto/contracts'
import type { PromptRequest } from '@agentproto/contracts/wire'

/** A prompt as content blocks. */
export const contentOf = (prompt: PromptRequest['prompt']): readonly ContentBlock[] =>
  typeof prompt === 'string' ? [{ type: 'text', text: prompt }] : prompt

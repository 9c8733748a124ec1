import type { AnswerRequest } from '@agentproto/contracts/wire'
import type { PromptAction } from './outgoing-prompts.js'
import type { CommandAction } from './own-command-result.js'

/** What a key of the attach screen asks the program to do. */
export type AttachAction =
  | PromptAction
  | { readonly type: 'answer'; readonly requestId: string; readonly answer: AnswerRequest }
  | { readonly type: 'interrupt' }
  | { readonly type: 'rewind'; readonly turn: number; readonly checkpoint?: string }
  | CommandAction

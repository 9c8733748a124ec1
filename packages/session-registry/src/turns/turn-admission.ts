import {
  AgentprotoError,
  type ContentBlock,
  type PromptPreface,
  type TraceContext,
  type UserPrompt,
} from '@agentproto/contracts'
import { asText, INTERRUPTION } from './prefaces.js'
import type { WaitingPrompt } from './prompt-queue.js'
import type { TurnBook } from './turn-book.js'

/** A prompt whose turn comes: what is logged of it, and what the agent gets. */
export interface Admission {
  readonly content: readonly ContentBlock[]
  readonly origin: NonNullable<UserPrompt['origin']>
  /** How it waited, if it did. */
  readonly waited?: WaitingPrompt
  /** The trace that it is part of. */
  readonly trace?: TraceContext | undefined
}

/** @param pending what the agent has to be told before */
export function admitted({ content, origin, waited, trace }: Admission, pending: readonly PromptPreface[]): UserPrompt {
  const preface = [...pending, ...(waited?.interrupting ? [INTERRUPTION] : [])]
  return {
    type: 'user-prompt',
    content,
    origin,
    ...(preface.length === 0 ? {} : { preface }),
    ...(waited === undefined ? {} : { queuedAt: waited.queuedAt }),
    ...(trace === undefined ? {} : { traceparent: trace.traceparent }),
  }
}

export const contentFor = ({ preface = [], content }: UserPrompt): readonly ContentBlock[] => [
  ...preface.map(asText),
  ...content,
]

/** The refusal of a prompt while a turn runs. */
export function inProgress(turns: TurnBook): AgentprotoError {
  const turn = turns.current?.number ?? turns.count + 1
  return new AgentprotoError('turn_in_progress', `Turn ${turn} of the session is in progress`, {
    hint: 'Wait for its turn-end, or interrupt it',
    data: { turn },
  })
}

import type { ContentBlock } from './content.js'
import type { PromptContextPart } from './host-event.js'
import type { TokenUsage, TurnEndReason } from './stream-event.js'
import type { TurnOutput } from './turn-parts.js'

/** One turn, without its output. */
export interface Turn {
  readonly number: number
  readonly state: 'running' | 'ended'
  /** When its prompt was queued; absent if it was not. */
  readonly queuedAt?: string
  readonly startedAt: string
  readonly endedAt?: string
  /** From `startedAt` to `endedAt`. */
  readonly durationMs?: number
  readonly reason?: TurnEndReason
  readonly empty?: boolean
  /** `false`: its prompt was never sent, since the turn before it was stopped. */
  readonly sent?: false
  /** Tokens, if the agent reports them. */
  readonly usage?: TokenUsage
  /** First and last sequence number of the turn's events. */
  readonly firstSeq: number
  readonly lastSeq?: number
  readonly error?: string
}

/** A finished turn as `wait` returns it. */
export interface TurnResult extends Turn, TurnOutput {}

/** A turn with its prompt and its output so far. */
export interface TurnDetail extends TurnResult {
  readonly prompt: readonly ContentBlock[]
  readonly preface?: readonly PromptContextPart[]
}

/** A turn whose prompt is queued. */
export interface QueuedTurn {
  readonly number: number
  readonly state: 'queued'
  readonly queuedAt: string
  readonly prompt: readonly ContentBlock[]
  /** The events of the turn will have greater sequence numbers. */
  readonly afterSeq: number
}

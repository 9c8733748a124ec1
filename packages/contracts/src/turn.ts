import type { ContentBlock } from './content.js'
import type { PromptPreface } from './host-event.js'
import type { TokenUsage, TurnEndReason } from './stream-event.js'
import type { TurnOutput } from './turn-parts.js'

/** One turn as a resource: what it was, without what it put out. */
export interface Turn {
  readonly number: number
  readonly state: 'running' | 'ended'
  /** When its prompt began to wait; absent for one that did not wait. */
  readonly queuedAt?: string
  readonly startedAt: string
  readonly endedAt?: string
  /** From `startedAt` to `endedAt`. */
  readonly durationMs?: number
  readonly reason?: TurnEndReason
  readonly empty?: boolean
  /** `false`: its prompt never reached the agent, since what it waited for was stopped. */
  readonly sent?: false
  /** Tokens, where the agent says. */
  readonly usage?: TokenUsage
  /** First and last sequence number of the turn's events. */
  readonly firstSeq: number
  readonly lastSeq?: number
  readonly error?: string
}

/** A finished turn as `wait` returns it. */
export interface TurnResult extends Turn, TurnOutput {}

/** A turn with its prompt, and what it has put out so far. */
export interface TurnDetail extends TurnResult {
  readonly prompt: readonly ContentBlock[]
  readonly preface?: readonly PromptPreface[]
}

/** A turn whose prompt waits for those before it. */
export interface QueuedTurn {
  readonly number: number
  readonly state: 'queued'
  readonly queuedAt: string
  readonly prompt: readonly ContentBlock[]
  /** Its events will have greater sequence numbers than this. */
  readonly afterSeq: number
}

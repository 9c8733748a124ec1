import type { ContentBlock, IdempotencyDigests, TraceContext } from '@agentproto/contracts'

/** What the agent gets for one turn. */
export interface Outgoing {
  readonly content: readonly ContentBlock[]
  readonly trace?: TraceContext | undefined
}

export interface QueuedPrompt extends Outgoing {
  /** ISO-8601. */
  readonly queuedAt: string
  /** It interrupted the running turn. */
  readonly isInterrupting: boolean
  /** What it waited for was stopped: it is never sent (failure mode 18). */
  readonly isStopped: boolean
  readonly idempotency?: IdempotencyDigests | undefined
}

/** How many of them will be sent. */
export const waitingCount = (queue: readonly QueuedPrompt[]): number =>
  queue.filter(({ isStopped }) => !isStopped).length

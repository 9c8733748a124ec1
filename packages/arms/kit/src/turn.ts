import { defined } from '@agentproto/contracts'
import type { AgentSignal, StreamError, TokenUsage, TurnEnd, TurnEndReason } from '@agentproto/contracts'
import { ToolCalls } from './tool-calls.js'

/** What the agent itself says of the turn's end. */
export interface Verdict {
  readonly reason: TurnEndReason
  readonly error?: Omit<StreamError, 'type'>
  readonly usage?: TokenUsage
}

/** How a turn came to its end: by the agent's word, by what went wrong, or by its host. */
export type TurnOutcome =
  | { readonly by: 'agent'; readonly verdict: Verdict }
  | { readonly by: 'failure'; readonly error: Omit<StreamError, 'type'> }
  | { readonly by: 'host' }

/** One prompt and what came of it. */
export class Turn {
  readonly tools = new ToolCalls()
  /** Settles when the turn's end was emitted. */
  readonly done: Promise<void>
  /** Resolves `done`. */
  readonly resolve: () => void
  /** The host wants it to end. What the agent then calls its end does not matter. */
  cancelling = false
  /** The agent answered, and the end is about to be told. */
  answer: TurnOutcome | undefined
  /** Text, a thought or a tool call came. */
  productive = false

  constructor() {
    let resolve = (): void => {}
    this.done = new Promise((settle) => (resolve = settle))
    this.resolve = resolve
  }

  /** The last signals of the turn: open calls are interrupted, an error is told, and the end is the last. */
  conclude(outcome: TurnOutcome): readonly AgentSignal[] {
    const { reason, error, usage } = this.#verdict(outcome)
    const end: TurnEnd = {
      type: 'turn-end',
      reason,
      ...(this.productive ? {} : { empty: true }),
      ...defined({ usage }),
    }
    return [...this.tools.interrupt(), ...(error ? [{ type: 'error' as const, ...error }] : []), end]
  }

  #verdict(outcome: TurnOutcome): Verdict {
    if (outcome.by === 'host') return { reason: 'cancelled' }
    if (outcome.by === 'failure') return { reason: 'error', error: outcome.error }
    const { verdict } = outcome
    return this.cancelling ? { ...defined({ usage: verdict.usage }), reason: 'cancelled' } : verdict
  }
}

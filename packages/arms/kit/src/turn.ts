import { defined, type StreamError, type TokenUsage, type TurnEnd, type TurnEndReason } from '@agentproto/contracts'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { ToolCalls } from './tool-calls.js'

/** How the agent itself reports the end of the turn. */
export interface Verdict {
  readonly reason: TurnEndReason
  readonly error?: Omit<StreamError, 'type'>
  readonly usage?: TokenUsage
}

/** Why a turn ended: the agent's answer, a failure, or its host. */
export type TurnOutcome =
  | { readonly by: 'agent'; readonly verdict: Verdict }
  | { readonly by: 'failure'; readonly error: Omit<StreamError, 'type'> }
  | { readonly by: 'host' }

/** One prompt and its result. */
export class Turn {
  readonly tools = new ToolCalls()
  /** Settles when the turn's end was emitted. */
  readonly done: Promise<void>
  /** Resolves `done`. */
  readonly resolve: () => void
  /** The host has cancelled it: the reason that the agent then reports does not count. */
  cancelling = false
  /** The agent's answer; the end of the turn is about to be emitted. */
  answer: TurnOutcome | undefined
  /** Text, a thought or a tool call was received. */
  productive = false

  constructor() {
    let resolve = (): void => {}
    this.done = new Promise((settle) => (resolve = settle))
    this.resolve = resolve
  }

  /** The last signals of the turn: open calls are interrupted, then an error if there was one, then the end. */
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

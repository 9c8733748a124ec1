import type { TokenUsage } from './stream-event.js'

/** What sessions used, by what their agents reported. What was not reported is absent, never zero. */

/** An amount of money; amounts of two currencies are never added. */
export interface Cost {
  readonly amount: number
  /** ISO 4217, such as `USD`. */
  readonly currency: string
}

export interface Usage {
  /** Turns that ended. Prompts that were never sent are none. */
  readonly turns: number
  /** How many of them reported neither tokens nor a cost. */
  readonly unreported: number
  readonly withoutTokens: number
  readonly withoutCost: number
  /** How long the agent worked, in milliseconds; not while it waited for a person. */
  readonly busyMs: number
  readonly tokens?: TokenUsage
  /** One amount per currency. */
  readonly cost?: readonly Cost[]
}

/** Limits of what may be used; each one that is set holds. */
export interface Budget {
  readonly cost?: Cost
  /** Of all kinds together. */
  readonly tokens?: number
  readonly turns?: number
  /** Minutes in which the agent works. */
  readonly minutes?: number
}

/** How often the same call may have the same result, alone or in alternation with one other; 0 for any number of times. */
export interface LoopLimits {
  /** The session gets a `runtime-warning` then. */
  readonly warnAfter?: number
  /** The session ends as `loop_detected` then. */
  readonly stopAfter?: number
}

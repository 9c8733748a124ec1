import type { Budget } from '@agentproto/contracts'

/** One budget that holds for a session, and what was used of it. */
export interface Standing {
  /** Names it, for as long as what was used is not set back. */
  readonly key: string
  /** For people, such as `of this session`. */
  readonly whose: string
  readonly limit: Budget
  readonly spent: Sum
  /** Who reported most of its cost, if others share it. */
  readonly largest?: Claimant
  /** What this session reported at once and is not believed: it is in `spent`, but others do not see it. */
  readonly disputed?: number
}

/** A session, and the cost that it reported in the currency of a budget. */
export interface Claimant {
  readonly session: string
  readonly amount: number
}

/** What was used of a budget. */
export interface Sum {
  readonly turns: number
  readonly tokens: number
  readonly busyMs: number
  /** By currency. */
  readonly cost: ReadonlyMap<string, number>
}

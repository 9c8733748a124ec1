import type { Budget } from '@agentproto/contracts'

/** One budget that holds for a session, and what was used of it. */
export interface Standing {
  /** Names it, for as long as what was used is not set back. */
  readonly key: string
  /** For people, such as `of this session`. */
  readonly whose: string
  readonly limit: Budget
  readonly spent: Sum
}

/** What was used of a budget. */
export interface Sum {
  readonly turns: number
  readonly tokens: number
  readonly busyMs: number
  /** By currency. */
  readonly cost: ReadonlyMap<string, number>
}

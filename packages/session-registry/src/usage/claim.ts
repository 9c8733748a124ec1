import type { Budget, Cost } from '@agentproto/contracts'

/**
 * Agents report their cost themselves, and one that is wrong or lies must not use up what others share. An increase by more
 * than a whole shared budget, in one report, is not believed: it ends the session that reported it, and a part of it counts
 * for the others. So a report that is true, against expectation, still uses the budget up after a few sessions.
 */

/** Of the smallest shared budget: what a report counts that is not believed. */
const DISPUTED_SHARE = 0.2

export interface Claim {
  /** What counts for the budgets that sessions share. */
  readonly counted: readonly Cost[]
  /** What does not. */
  readonly disputed: readonly Cost[]
}

/** @param limits of the budgets that the session shares with others */
export function judgeClaim(cost: readonly Cost[], limits: readonly Budget[]): Claim {
  const counted: Cost[] = []
  const disputed: Cost[] = []
  for (const { amount, currency } of cost) {
    const most = Math.min(...limits.flatMap((limit) => (limit.cost?.currency === currency ? [limit.cost.amount] : [])))
    const counts = amount > most ? most * DISPUTED_SHARE : amount
    counted.push({ amount: counts, currency })
    if (counts < amount) disputed.push({ amount: amount - counts, currency })
  }
  return { counted, disputed }
}

/** What is left of costs without others. */
export const withoutCosts = (cost: readonly Cost[], others: readonly Cost[] = []): readonly Cost[] =>
  cost.map(({ amount, currency }) => ({
    amount: Math.max(
      0,
      others.reduce((left, each) => left - (each.currency === currency ? each.amount : 0), amount),
    ),
    currency,
  }))

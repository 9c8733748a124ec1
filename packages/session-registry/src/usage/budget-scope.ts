import { type Cost, defined } from '@agentproto/contracts'
import { judgeClaim } from './claim.js'
import type { Spent } from './meter.js'
import type { Claimant, Standing } from './standing.js'

/** The key of a budget of a workspace begins so. */
export const WORKSPACE = 'workspace '

/** A budget that holds for a session, with the sum that it limits. */
export interface Scope extends Omit<Standing, 'spent'> {
  readonly sum: MutableSum
  readonly isShared?: true
}

export const emptySum = (): MutableSum => ({ turns: 0, tokens: 0, busyMs: 0, cost: new Map(), claims: new Map() })

export function standingOf({ sum, isShared: _, ...budget }: Scope): Standing {
  const { turns, tokens, busyMs, cost } = sum
  const largest = largestOf(sum, budget)
  return { ...budget, spent: { turns, tokens, busyMs, cost: new Map(cost) }, ...defined({ largest }) }
}

/** A session of another workspace is not named. */
function largestOf({ claims }: MutableSum, { key, limit }: Pick<Scope, 'key' | 'limit'>): Claimant | undefined {
  const amounts = limit.cost && claims.get(limit.cost.currency)
  if (amounts === undefined || !key.startsWith(WORKSPACE)) return undefined
  let largest: Claimant | undefined
  for (const [session, amount] of amounts) if (amount > (largest?.amount ?? 0)) largest = { session, amount }
  return largest
}

export interface MutableSum {
  turns: number
  tokens: number
  busyMs: number
  readonly cost: Map<string, number>
  /** Of budgets that sessions share: cost by currency, of each session. */
  readonly claims: Map<string, Map<string, number>>
}

/** @param session who spends, where it is to be known */
export function add(sum: MutableSum, { turns = 0, tokens = 0, busyMs = 0, cost = [] }: Spent, session?: string): void {
  sum.turns += turns
  sum.tokens += tokens
  sum.busyMs += busyMs
  for (const { currency, amount } of cost) {
    sum.cost.set(currency, (sum.cost.get(currency) ?? 0) + amount)
    if (session !== undefined) claim(sum, { session, currency, amount })
  }
}

/** What counts for the budgets that sessions share, and what does not. */
export function believed(
  { cost = [], ...spent }: Spent,
  shared: readonly Scope[],
): { readonly counts: Spent; readonly disputed: readonly Cost[] } {
  const { counted, disputed } = judgeClaim(
    cost,
    shared.map(({ limit }) => limit),
  )
  return { counts: { ...spent, cost: counted }, disputed }
}

/** Sessions of a budget whose costs are known one by one. */
const MAX_CLAIMANTS = 1_000

function claim({ claims }: MutableSum, { session, currency, amount }: Cost & { readonly session: string }): void {
  const amounts = claims.get(currency) ?? new Map<string, number>()
  claims.set(currency, amounts)
  if (amounts.size < MAX_CLAIMANTS || amounts.has(session)) amounts.set(session, (amounts.get(session) ?? 0) + amount)
}

import { defined } from './json.js'
import { TOKEN_KINDS, type TokenUsage } from './stream-event.js'
import type { Cost, Usage } from './usage.js'

/** Sums of usage, in which what was never reported stays absent. */

export const NO_USAGE: Usage = { turns: 0, unreported: 0, withoutTokens: 0, withoutCost: 0, busyMs: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  const tokens = a.tokens && b.tokens ? addTokens(a.tokens, b.tokens) : (a.tokens ?? b.tokens)
  const cost = a.cost === undefined && b.cost === undefined ? undefined : addCost(a.cost, b.cost)
  return {
    turns: a.turns + b.turns,
    unreported: a.unreported + b.unreported,
    withoutTokens: a.withoutTokens + b.withoutTokens,
    withoutCost: a.withoutCost + b.withoutCost,
    busyMs: a.busyMs + b.busyMs,
    ...defined({ tokens, cost }),
  }
}

/** The sums of each currency: amounts of two currencies are never added. */
export function addCost(a: readonly Cost[] = [], b: readonly Cost[] = []): readonly Cost[] {
  const sums = new Map(a.map(({ currency, amount }) => [currency, amount]))
  for (const { currency, amount } of b) sums.set(currency, rounded((sums.get(currency) ?? 0) + amount))
  return Array.from(sums, ([currency, amount]) => ({ amount, currency }))
}

function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  const kinds = TOKEN_KINDS.filter((kind) => a[kind] !== undefined || b[kind] !== undefined)
  return Object.fromEntries(kinds.map((kind) => [kind, (a[kind] ?? 0) + (b[kind] ?? 0)]))
}

/** Sums of decimal fractions get errors far behind the point, which would show. */
const rounded = (amount: number): number => Math.round(amount * 1e9) / 1e9

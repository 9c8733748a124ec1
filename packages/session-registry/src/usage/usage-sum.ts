import { type Cost, defined, type TokenUsage, type Usage } from '@agentproto/contracts'

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

/** The sums of each currency. */
export function addCost(a: readonly Cost[] = [], b: readonly Cost[] = []): readonly Cost[] {
  const sums = new Map(a.map(({ currency, amount }) => [currency, amount]))
  for (const { currency, amount } of b) sums.set(currency, rounded((sums.get(currency) ?? 0) + amount))
  return Array.from(sums, ([currency, amount]) => ({ amount, currency }))
}

/** The parts of a report that are counts, with their total; undefined where none is. */
export function reportedTokens(usage: TokenUsage): TokenUsage | undefined {
  const counts = KINDS.filter((kind) => isCount(usage[kind])).map((kind) => [kind, usage[kind] ?? 0] as const)
  if (counts.length === 0) return undefined
  const tokens: TokenUsage = Object.fromEntries(counts)
  // A report without a total is taken as parts that do not overlap: a budget must not see too few.
  return { ...tokens, totalTokens: tokens.totalTokens ?? counts.reduce((sum, [, count]) => sum + count, 0) }
}

function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  const kinds = KINDS.filter((kind) => a[kind] !== undefined || b[kind] !== undefined)
  return Object.fromEntries(kinds.map((kind) => [kind, (a[kind] ?? 0) + (b[kind] ?? 0)]))
}

const KINDS = [
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cachedReadTokens',
  'cachedWriteTokens',
  'thoughtTokens',
] as const satisfies readonly (keyof TokenUsage)[]

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

/** Sums of decimal fractions get errors far behind the point, which would show. */
const rounded = (amount: number): number => Math.round(amount * 1e9) / 1e9

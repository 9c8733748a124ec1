import { TOKEN_KINDS, type TokenUsage } from '@agentproto/contracts'

/** The parts of a report that are counts, with their total; undefined where none is. */
export function reportedTokens(usage: TokenUsage): TokenUsage | undefined {
  const counts = TOKEN_KINDS.filter((kind) => isCount(usage[kind])).map((kind) => [kind, usage[kind] ?? 0] as const)
  if (counts.length === 0) return undefined
  const tokens: TokenUsage = Object.fromEntries(counts)
  // A report without a total is taken as parts that do not overlap: a budget must not see too few.
  return { ...tokens, totalTokens: tokens.totalTokens ?? counts.reduce((sum, [, count]) => sum + count, 0) }
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

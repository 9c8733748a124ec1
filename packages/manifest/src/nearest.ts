/** The candidate that was most likely meant, or none when nothing is close. */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  const wanted = fold(given).slice(0, 80)
  let best: string | undefined
  let bestDistance = Math.max(1, Math.floor(wanted.length / 3)) + 0.5
  for (const candidate of candidates) {
    const distance = editDistance(wanted, fold(candidate))
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

const fold = (text: string): string => text.toLowerCase().replace(/[-_\s]/g, '')

/** Insertions, deletions, substitutions and swaps of neighbours. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  const cost = (i: number, j: number): number => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    rows.push(row)
    for (let j = 1; j <= b.length; j++) {
      const substituted = cost(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = isSwap(a, b, { i, j }) ? cost(i - 2, j - 2) + 1 : Infinity
      row.push(Math.min(cost(i - 1, j) + 1, cost(i, j - 1) + 1, substituted, swapped))
    }
  }
  return cost(a.length, b.length)
}

const isSwap = (a: string, b: string, { i, j }: { readonly i: number; readonly j: number }): boolean =>
  i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]

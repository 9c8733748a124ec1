import type { PatchRun } from '../parts/patch-lines.js'

/** A part of a patch with the old text at the left and the new one at the right. `note` stands across both. */
export type SidePair =
  | { readonly kind: 'note'; readonly lines: readonly string[] }
  | { readonly kind: 'same' | 'changed'; readonly left: readonly string[]; readonly right: readonly string[] }

/** The runs of a patch as pairs: what was removed is beside what was added in its place. */
export function sidesOf(runs: readonly PatchRun[]): readonly SidePair[] {
  const pairs: SidePair[] = []
  for (const { kind, lines } of runs) {
    const last = pairs.at(-1)
    if (kind === 'note') pairs.push({ kind, lines })
    else if (kind === 'same') pairs.push({ kind, left: lines, right: lines })
    else if (kind === 'removed') pairs.push({ kind: 'changed', left: lines, right: [] })
    else if (last?.kind === 'changed' && last.right.length === 0) pairs.splice(-1, 1, { ...last, right: lines })
    else pairs.push({ kind: 'changed', left: [], right: lines })
  }
  return pairs
}

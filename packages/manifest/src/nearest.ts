import { distance } from 'fastest-levenshtein'

/**
 * The candidate that was most likely meant, or none when nothing is close.
 * @param most Edits between them. Default: one in three letters
 */
export function nearest(given: string, candidates: readonly string[], most?: number): string | undefined {
  const wanted = fold(given).slice(0, 80)
  let best: string | undefined
  let bestEdits = (most ?? Math.max(1, Math.floor(wanted.length / 3))) + 0.5
  for (const candidate of candidates) {
    const edits = editsBetween(wanted, fold(candidate))
    if (edits < bestEdits) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

const fold = (text: string): string => text.toLowerCase().replace(/[-_\s]/g, '')

/** Swapped letters, the most common typing error, count as one edit, not two. */
const editsBetween = (a: string, b: string): number =>
  a !== b && sorted(a) === sorted(b) ? Math.min(distance(a, b), 1.25) : distance(a, b)

const sorted = (text: string): string => text.split('').sort().join('')

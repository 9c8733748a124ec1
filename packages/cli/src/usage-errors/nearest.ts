import { closest, distance } from 'fastest-levenshtein'

/** The name that a mistyped word most likely is: one that it begins, one with its letters in another order, else one that differs in few. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const begun = word.length < 2 ? [] : names.filter((name) => name.startsWith(word))
  if (begun.length === 1) return begun[0]
  if (names.length === 0) return undefined
  const swapped = names.find((name) => letters(name) === letters(word))
  if (swapped !== undefined) return swapped
  if (begun.length > 0 && word.length > 2) return closest(word, [...begun])
  const best = closest(word, [...names])
  return distance(word, best) <= Math.max(1, Math.floor(Math.max(word.length, best.length) / 3)) ? best : undefined
}

const letters = (word: string): string => word.split('').toSorted().join('')

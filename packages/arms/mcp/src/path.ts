import { isRecord } from '@agentproto/contracts'

/** A place in what an agent sent: keys joined by dots; a number is an index, and a negative one counts from the end. */
export type Path = readonly string[]

export const parsePath = (text: string): Path => text.split('.')

/** What is at the place, or undefined. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value
  for (const key of path) {
    if (Array.isArray(at)) at = at.at(Number(key))
    else if (isRecord(at) && Object.hasOwn(at, key)) at = at[key]
    else return undefined
  }
  return at
}

/** The text at the place: a list of words is joined, a number or a truth is written out. */
export function textAt(value: unknown, path: Path): string | undefined {
  const at = valueAt(value, path)
  if (typeof at === 'string') return at
  if (typeof at === 'number' || typeof at === 'boolean') return String(at)
  if (Array.isArray(at) && at.length > 0 && at.every((word) => typeof word === 'string')) return at.join(' ')
  return undefined
}

import { isRecord } from '@agentproto/contracts'

/** An entry has five levels, and less than a hundred members. */
const LEVELS_MAX = 16
const MEMBERS_MAX = 10_000

/** Whether a value has more levels or members than any entry. Without recursion: the depth is what is in question. */
export function isTooComplex(value: unknown): boolean {
  let level: readonly unknown[] = [value]
  let members = 0
  for (let depth = 0; level.length > 0; depth += 1) {
    members += level.length
    if (depth > LEVELS_MAX || members > MEMBERS_MAX) return true
    level = level.flatMap(membersOf)
  }
  return false
}

/** The JSON text of a value with the keys of its objects sorted, so that it does not depend on how it was written. */
export const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_key, member: unknown) =>
    isRecord(member) ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1))) : member,
  )

const membersOf = (value: unknown): readonly unknown[] =>
  typeof value === 'object' && value !== null ? Object.values(value) : []

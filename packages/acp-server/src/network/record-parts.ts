import type { EventRecord } from '@agentproto/contracts/agent'

/** Records of one read in parts that have so many characters at most; an event that has more by itself is a part alone. */
export function* partsOf(records: readonly EventRecord[], maxChars: number): Generator<readonly EventRecord[]> {
  let from = 0
  let chars = 0
  for (const [at, { json }] of records.entries()) {
    if (at > from && chars + json.length > maxChars) {
      yield records.slice(from, at)
      from = at
      chars = 0
    }
    chars += json.length
  }
  if (from === 0) yield records
  else yield records.slice(from)
}

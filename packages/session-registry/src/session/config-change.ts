import type { ConfigChange, StoredSpawn } from '@agentproto/contracts/agent'
import type { ConfigRequest } from '@agentproto/contracts/wire'

/** What callers set on a running agent. */

/** The changes that a request names: the mode first, since what else there is may depend on it. */
export function changesOf({ mode, model, options = {} }: ConfigRequest): readonly ConfigChange[] {
  return [
    ...(mode === undefined ? [] : [{ mode }]),
    ...(model === undefined ? [] : [{ model }]),
    ...Object.entries(options).map(([optionId, value]) => ({ optionId, value })),
  ]
}

/** What was set before and what is set now: of each thing its last value, in the order in which it was set. */
export function withChange(spawn: StoredSpawn, change: ConfigChange): StoredSpawn {
  const others = (spawn.changes ?? []).filter((known) => subjectOf(known) !== subjectOf(change))
  return { ...spawn, changes: [...others, change] }
}

const subjectOf = (change: ConfigChange): string =>
  'optionId' in change ? `option ${change.optionId}` : Object.keys(change).join()

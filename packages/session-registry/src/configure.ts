import type { ConfigChange, ConfigRequest, RunningAgent, StoredSpawn } from '@agentproto/contracts'
import { messageOf } from './ending.js'

/** Setting what a running agent offers, and setting it again after a resume. */

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

/** Sets again what had been set. @returns warnings of what the agent refuses by now */
export async function restoreConfig(agent: RunningAgent, { changes = [] }: StoredSpawn): Promise<readonly string[]> {
  const warnings: string[] = []
  for (const change of changes) {
    await agent.configure(change).catch((refused: unknown) => {
      warnings.push(`What was set before could not be set again: ${messageOf(refused)}`)
    })
  }
  return warnings
}

const subjectOf = (change: ConfigChange): string =>
  'optionId' in change ? `option ${change.optionId}` : Object.keys(change).join()
